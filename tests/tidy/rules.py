"""The rules of the tree that a compiler does not check.

Each rule is a function from {path: text} to a list of findings, "path:line: what is wrong". It
looks only at what it is given, so that test_tidy.py can show it a bad tree as well as ours.
"""
import os
import re
import subprocess

# ---- reading -------------------------------------------------------------------------------------

TEXT_SUFFIXES = ('.c', '.h', '.def', '.py', '.sh', '.cmake', '.txt', '.md', '.json', '.yaml',
                 '.yml', '.js', '.mjs', '.in', '.html', '.css', '.1', 'dev', '.ci/run')


# What programs write and programs read.
DATA_FOLDERS = ('fuzz/corpus/', 'tests/placement/golden/', 'tests/profiles/golden/')


def read_tree(root):
    """{path: text} of every text file that git knows or would add."""
    names = subprocess.run(
        ['git', '-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
        capture_output=True, text=True, check=True).stdout.split('\0')
    tree = {}
    for name in filter(None, names):
        path = os.path.join(root, name)
        if name.endswith(TEXT_SUFFIXES) and not name.startswith(DATA_FOLDERS) \
                and os.path.isfile(path):
            with open(path, encoding='utf-8', newline='') as file:
                tree[name] = file.read()
    return tree


def select(tree, *suffixes, under=''):
    return {path: text for path, text in tree.items()
            if path.endswith(suffixes) and path.startswith(under)}


COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_only(text):
    """C without comments and without what stands in quotes; lines stay where they are."""
    def blank(match):
        found = match.group()
        if found[0] in '"\'':
            return found[0] * 2
        return '\n' * found.count('\n') or ' '
    return COMMENT_OR_STRING.sub(blank, text)


def line_of(text, offset):
    return text.count('\n', 0, offset) + 1


def find_all(pattern, text):
    """(line number, match) of every match."""
    return [(line_of(text, match.start()), match) for match in re.finditer(pattern, text)]


# ---- layers --------------------------------------------------------------------------------------

# What each layer may include besides itself. libclockwise is base, placement and profiles: it must
# stay free of everything that does I/O.
LAYERS = {
    'base': set(),
    'placement': {'base', 'clockwise'},
    'profiles': {'base', 'placement', 'clockwise'},
    'wire': {'base'},
    'io': {'base'},
    'store': {'base', 'placement', 'wire', 'io', 'clockwise'},
    'router': {'base', 'placement', 'wire', 'io', 'store', 'clockwise'},
    'move': {'base', 'placement', 'wire', 'io', 'store', 'router', 'clockwise'},
    'control': {'base', 'placement', 'wire', 'io', 'store', 'router', 'move', 'clockwise'},
    'cli': {'base', 'placement', 'profiles', 'wire', 'io', 'store', 'router', 'move', 'control',
            'clockwise'},
}

STANDARD_HEADERS = {
    'assert.h', 'ctype.h', 'errno.h', 'inttypes.h', 'limits.h', 'math.h', 'stdalign.h', 'stdarg.h',
    'stdatomic.h', 'stdbool.h', 'stddef.h', 'stdint.h', 'stdio.h', 'stdlib.h', 'string.h',
    'strings.h', 'sys/types.h',
}
# Layers that never meet the operating system, and what they may include from outside.
PURE_LAYERS = {
    'placement': STANDARD_HEADERS | {'xxhash.h', 'immintrin.h', 'arm_neon.h'},
    'profiles': STANDARD_HEADERS | {'xxhash.h', 'immintrin.h', 'arm_neon.h'},
    'wire': STANDARD_HEADERS,
    'router': STANDARD_HEADERS | {'sys/uio.h'},
    'move': STANDARD_HEADERS | {'sys/uio.h'},
}
# io.h has two implementations; only one of them names libuv.
UV_FILES = re.compile(r'src/io/io_uv\w*\.[ch]')


def layers(tree):
    findings = []
    for path, text in select(tree, '.c', '.h', '.def', under='src/').items():
        layer = path.split('/')[1]
        for number, match in find_all(r'(?m)^\s*#\s*include\s*([<"])([^>"]+)[>"]', text):
            quote, name = match.groups()
            problem = check_include(path, layer, quote, name)
            if problem:
                findings.append(f'{path}:{number}: {problem}')
    return findings


def check_include(path, layer, quote, name):
    top = name.split('/')[0]
    if quote == '"' and top not in LAYERS:
        return f'"{name}" does not start with a layer (src/ is the include folder)'
    if top in LAYERS or top == 'clockwise':
        if top == layer or top in LAYERS[layer]:
            return None
        return f'{layer} may not use {top}: it comes later or apart'
    if layer in PURE_LAYERS and name not in PURE_LAYERS[layer]:
        return f'{layer} does no I/O and may not include <{name}>'
    if name == 'uv.h' and not UV_FILES.fullmatch(path):
        return f'only src/io/io_uv* knows libuv, not {path}'
    return None


def placement_has_no_globals(tree):
    """A map is all the state there is: libclockwise is safe in any number of threads."""
    pattern = r'(?m)^(?:static\s+)?(?!typedef|extern|struct \w+;|enum|union)[a-z_][\w\s*]*' \
              r'\b(\w+)(?:\[[^\]]*\])*\s*(?:=[^=]|;)'
    findings = []
    for path, text in select(tree, '.c', under=('src/placement/', 'src/profiles/')).items():
        for number, match in find_all(pattern, code_only(text)):
            if 'const' not in match.group().split():
                findings.append(f'{path}:{number}: {match.group(1)} is global state')
    return findings


# ---- calls ---------------------------------------------------------------------------------------

BANNED_CALLS = {
    'strcpy': 'memcpy or snprintf', 'strcat': 'snprintf or a buffer', 'strncat': 'snprintf',
    'sprintf': 'snprintf', 'vsprintf': 'vsnprintf', 'gets': 'fgets', 'strtok': 'strchr or strtok_r',
    'rand': 'base/random.h', 'srand': 'base/random.h', 'atoi': 'a parser that sees errors',
    'atol': 'a parser that sees errors', 'atoll': 'a parser that sees errors',
    'atof': 'a parser that sees errors', 'alloca': 'a bounded array or the heap',
    'system': 'nothing', 'popen': 'nothing', 'tmpnam': 'mkstemp', 'mktemp': 'mkstemp',
}


def banned_calls(tree):
    pattern = r'(?<![\w.>])(' + '|'.join(BANNED_CALLS) + r')\s*\('
    findings = []
    for path, text in select(tree, '.c', '.h').items():
        for number, match in find_all(pattern, code_only(text)):
            name = match.group(1)
            findings.append(f'{path}:{number}: {name}() is banned; use {BANNED_CALLS[name]}')
    return findings


def unchecked_allocations(tree):
    """What malloc and its kind gave must be looked at within a few lines."""
    pattern = r'([\w.>\-\[\]]+)\s*=\s*(?:\([^()]*\)\s*)?' \
              r'(malloc|calloc|realloc|reallocarray|strdup|strndup|aligned_alloc)\s*\('
    findings = []
    for path, text in select(tree, '.c', '.h', under='src/').items():
        code = code_only(text)
        for number, match in find_all(pattern, code):
            name = re.escape(match.group(1))
            rest = '\n'.join(code[match.end():].split('\n')[:9])
            looked_at = rf'!\s*{name}(?![\w])|{name}\s*[=!]=\s*NULL|{name}\s*(?:\?|&&|\|\|)' \
                        rf'|(?:if|while|return|assert|ASSERT)\s*\(?\s*{name}\b' \
                        rf'|(?:&&|\|\|)\s*{name}\b|return .*{name} \?'
            at_once = re.search(r'!\s*\(\s*$', code[max(0, match.start() - 8):match.start()])
            if not at_once and not re.search(looked_at, rest):
                findings.append(f'{path}:{number}: what {match.group(2)} gave is not checked')
    return findings


# ---- headers -------------------------------------------------------------------------------------

def header_form(tree):
    """A header opens with its manual and has a guard named as it is included."""
    findings = []
    for path, text in select(tree, '.h').items():
        inside = re.sub(r'^(src|include|tests)/', '', path)
        guard = re.sub(r'[^A-Z0-9]', '_', inside.upper())
        if not text.startswith('/*'):
            findings.append(f'{path}:1: a header opens with a comment that says what it is')
        if not re.search(rf'(?m)^#ifndef (?:TESTS_)?{guard}\n#define (?:TESTS_)?{guard}$', text):
            findings.append(f'{path}:1: no include guard {guard}')
    return findings


def compiles_alone(root, path, compiler):
    """None, or what the compiler says about the header on its own."""
    name = re.sub(r'^(src|include)/', '', path)
    result = subprocess.run(
        [*compiler, '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter',
         '-Wno-unused-function', '-D_GNU_SOURCE', '-I', os.path.join(root, 'include'),
         '-I', os.path.join(root, 'src'), '-I', os.path.join(root, 'tests'), '-'],
        input=f'#include "{name}"\n', capture_output=True, text=True)
    return None if result.returncode == 0 else f'{path}:1: not on its own: {result.stderr.strip()}'


# ---- lengths -------------------------------------------------------------------------------------

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 500
COLUMNS_MAX = 100


def functions(text):
    """(first line of the signature, lines between the braces) of every function; numbers from 1."""
    lines = text.split('\n')
    start = 0
    for number, line in enumerate(lines, 1):
        if line == '{':
            start = number
        elif line == '}' and start:
            yield signature_line(lines, start), number - start - 1
            start = 0


def signature_line(lines, brace):
    number = brace
    while number > 1 and re.match(r'[\w *]', lines[number - 2]) \
            and not lines[number - 2].endswith(('*/', ';', '}')):
        number -= 1
    return number


def function_length(tree):
    """At most 60 lines, or a waiver on the line above that says why: long: REASON in a comment."""
    findings = []
    for path, text in select(tree, '.c', '.h').items():
        lines = text.split('\n')
        waivers = {number for number, line in enumerate(lines, 1)
                   if re.fullmatch(r'/\* long: .{10,} \*/', line)}
        for number, length in functions(text):
            waived = number - 1 in waivers
            waivers.discard(number - 1)
            if length > FUNCTION_LINES_MAX and not waived:
                findings.append(f'{path}:{number}: a function of {length} lines')
            if length <= FUNCTION_LINES_MAX and waived:
                findings.append(f'{path}:{number - 1}: this waiver is not needed')
        findings += [f'{path}:{number}: a waiver without a function' for number in sorted(waivers)]
    return findings


def file_length(tree):
    """At most 500 lines, or a waiver in a comment of its own: long file: REASON."""
    findings = []
    for path, text in select(tree, '.c', '.h', '.py', '.js', '.mjs', 'dev').items():
        length = text.count('\n')
        waived = re.search(r'(?m)^(?:/\*|#|//) long file: .{10,}', text)
        if length > FILE_LINES_MAX and not waived:
            findings.append(f'{path}:{length}: a file of {length} lines')
        if length <= FILE_LINES_MAX and waived:
            findings.append(f'{path}:{line_of(text, waived.start())}: this waiver is not needed')
    return findings


def line_form(tree):
    """100 columns, no tabs, no blanks at the end, a newline at the end."""
    findings = []
    for path, text in tree.items():
        if path.endswith(('.md', '.json', '.html', '.css')):
            continue
        for number, line in enumerate(text.split('\n'), 1):
            if len(line) > COLUMNS_MAX:
                findings.append(f'{path}:{number}: {len(line)} columns')
            if '\t' in line or line.endswith((' ', '\r')):
                findings.append(f'{path}:{number}: a tab, or blanks at the end')
        if text and not text.endswith('\n'):
            findings.append(f'{path}:{line_of(text, len(text))}: no newline at the end')
    return findings


# ---- tests and words -----------------------------------------------------------------------------

def every_module_has_a_test(tree):
    """src/X/y.c has tests/X/test_y*.c, or some test says that it covers it: covers: X/y, …"""
    claimed = {}
    for path, text in select(tree, '.c', '.py', under='tests/').items():
        if path.startswith('tests/tidy/'):
            continue
        for number, match in find_all(r'\bcovers: ([\w/]+(?:,[\s*#]*[\w/]+)*)', text):
            for name in re.findall(r'[\w/]+', match.group(1)):
                claimed[name] = f'{path}:{number}'
    findings = []
    modules = {path[len('src/'):-len('.c')] for path in select(tree, '.c', under='src/')}
    for module in sorted(modules):
        layer, name = module.split('/', 1)
        has_test = any(path.startswith(f'tests/{layer}/test_{name}') for path in tree)
        if not has_test and name not in claimed and module not in claimed:
            findings.append(f'src/{module}.c:1: no test names it')
    names = modules | {module.split('/')[-1] for module in modules}
    findings += [f'{place}: covers {name}, which is no module'
                 for name, place in sorted(claimed.items()) if name not in names]
    return findings


def open_ends(tree):
    """An open end has an owner: TODO(name)."""
    findings = []
    for path, text in tree.items():
        if path.startswith('tests/tidy/'):
            continue
        for number, match in find_all(r'\b(?:TODO(?!\(\w+\))|FIXME|XXX)\b', text):
            findings.append(f'{path}:{number}: {match.group()} without an owner; TODO(name)')
    return findings


LOCAL_WORDS = re.compile(
    r'(?<![\w.$}~-])/(?:home|root|Users|work)/|work' r'place|registry\.\w+\.\w+|"resolved":')


def local_words(tree):
    """Nothing in the tree knows the machine or the network that it was written on."""
    return [f'{path}:{number}: {match.group()!r} belongs to one machine, not into the tree'
            for path, text in tree.items() if not path.startswith('tests/tidy/')
            for number, match in find_all(LOCAL_WORDS, text)]


RULES = [layers, placement_has_no_globals, banned_calls, unchecked_allocations, header_form,
         function_length, file_length, line_form, every_module_has_a_test, open_ends, local_words]
