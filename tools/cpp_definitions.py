"""Finds the definitions of a C++ file at namespace scope, for tools/tidy.py.

This is not a compiler: it walks over the braces of a text without comments and
strings. It knows namespaces, classes, enums, functions with their parameter
types and inline variables, which is what headers in Google style contain.
"""

import re

NAMESPACE = re.compile(r'^(?:inline\s+)?namespace\b\s*([\w:]*)')
ATTRIBUTE = (r'(?:\s*\[\[[^\]]*\]\]|\s*alignas\s*\([^()]*\)'
             r'|\s*ABSL_\w+(?:\([^()]*\))?)*')
TYPE = re.compile(r'\b(?:enum\s+class|enum\s+struct|class|struct|union|enum)\b'
                  + ATTRIBUTE + r'\s*([A-Za-z_][\w:]*(?:\s*<.*>)?)\s*'
                  r'(?:final\s*)?(?::(?!:).*)?$', re.S)
TEMPLATE = re.compile(r'^template\s*<')
FUNCTION = re.compile(r'([\w:~]+|operator\s*(?:\(\)|[^\s(]+))\s*\(')
VARIABLE = re.compile(r'\binline\b.*?([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?'
                      r'(?:=|$)', re.S)


def without_preprocessor(code):
    """`code` with the lines of the preprocessor replaced by blanks."""
    return re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                  lambda m: re.sub(r'[^\n]', ' ', m.group()), code, flags=re.M)


def closing(code, position, opening, end):
    """The position after the bracket that closes the one at `position`."""
    depth = 0
    for i in range(position, len(code)):
        if code[i] == opening:
            depth += 1
        elif code[i] == end:
            depth -= 1
            if depth == 0:
                return i + 1
    return len(code)


def skip_template(head):
    """`head` split after its template<...>, if it begins with one."""
    begin = 0
    while TEMPLATE.match(head[begin:].lstrip()):
        begin = head.index('<', begin)
        begin = closing(head, begin, '<', '>')
    return ' '.join(head[:begin].split()), head[begin:].strip()


def split_parameters(text):
    """The parameters of `text`, cut at the commas outside of brackets."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in '<({[') - (c in '>)}]')
        if c == ',' and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return [part for part in parts + [text[last:]] if part.strip()]


def parameter_type(text):
    """A parameter without its default and its name."""
    text = ' '.join(text.split('=')[0].split())
    match = re.match(r'^(.*[\s&*>])([A-Za-z_]\w*)$', text)
    words = {'int', 'char', 'long', 'short', 'unsigned', 'const', 'float',
             'double', 'bool', 'auto'}
    if match and match.group(2) not in words:
        before = match.group(1).strip()
        if before not in ('const', 'volatile', 'struct', 'enum'):
            text = before
    return re.sub(r'\s*([&*<>,])\s*', r'\1', text)


def function_key(template, head):
    """The name and parameter types of a function's head, or None."""
    match = FUNCTION.search(head)
    if not match or re.search(r'\bstatic\b', head[:match.start()]):
        return None
    end = closing(head, match.end() - 1, '(', ')')
    parameters = [parameter_type(p)
                  for p in split_parameters(head[match.end():end - 1])]
    name = re.sub(r'\s+', '', match.group(1))
    return f'{template} {name}({", ".join(parameters)})'.strip()


class Walk:
    """One file's definitions: (qualified name, kind, position)."""

    def __init__(self, code, functions):
        self.code = without_preprocessor(code)
        self.functions = functions
        self.found = []
        self.namespaces = []  # '' is an anonymous one

    def add(self, name, kind, position):
        if '' in self.namespaces:
            return  # each file has its own
        self.found.append(('::'.join(self.namespaces + [name]), kind, position))

    def definition(self, head, position):
        """Records what `head` { defines. True if a semicolon ends that."""
        template, rest = skip_template(head)
        declares = TYPE.search(rest)
        if declares and '(' not in re.sub(ATTRIBUTE, '', rest[:declares.end(
                1)]):
            name = re.sub(r'\s+', '', declares.group(1))
            self.add(name, 'type', position)
            return True
        if self.functions and '(' in rest.split('=')[0]:
            key = function_key(template, rest)
            if key:
                self.add(key, 'function', position)
            return False
        return self.variable(rest, position) or '(' not in rest

    def variable(self, head, position):
        match = VARIABLE.search(head)
        if self.functions and match and '(' not in head.split('=')[0]:
            self.add(match.group(1), 'variable', position)
            return True
        return False

    def start(self, begin, end):
        head = self.code[begin:end]
        return begin + len(head) - len(head.lstrip())

    def run(self):
        code, i, begin, parens = self.code, 0, 0, 0
        while i < len(code):
            c = code[i]
            if c in '()':
                parens += 1 if c == '(' else -1
            elif c == ';' and parens == 0:
                self.variable(code[begin:i].split('{')[0].strip(),
                              self.start(begin, i))
                begin = i + 1
            elif c == '}' and parens == 0:
                if self.namespaces:
                    self.namespaces.pop()
                begin = i + 1
            elif c == '{':
                head = code[begin:i].strip()
                start = self.start(begin, i)
                space = NAMESPACE.match(head)
                if parens == 0 and space:
                    self.namespaces.append(space.group(1))
                    begin = i + 1
                else:
                    end = closing(code, i, '{', '}')
                    if parens == 0:
                        if self.definition(head, start):
                            end = code.find(';', end) + 1 or len(code)
                        begin = end
                    i = end
                    continue
            i += 1
        return self.found


def definitions(code, functions):
    """The definitions in `code` (without comments and strings) outside
    anonymous namespaces: (qualified name, kind, position). Types always;
    functions, with the types of their parameters, and inline variables only if
    `functions`."""
    return Walk(code, functions).run()
