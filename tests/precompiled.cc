// The one source of tests_precompiled, whose headers are what is wanted.
