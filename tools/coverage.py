#!/usr/bin/python3
"""Line coverage by folder of a build made with --coverage: coverage.py BUILD_FOLDER [--files].

Asks gcov for JSON of every object that ran and adds the lines up; a line that several programs were
built with counts once, and as covered if any of them ran it.
"""
import collections
import json
import os
import subprocess
import sys


def read_lines(build):
    """{source path: {line number: whether it ran}} of everything under src/."""
    source_root = os.path.realpath(os.path.join(os.path.dirname(__file__), '..'))
    lines = collections.defaultdict(dict)
    notes = [os.path.join(folder, name) for folder, _, names in os.walk(build)
             for name in names if name.endswith('.gcno')]
    for start in range(0, len(notes), 50):
        text = subprocess.run(['gcov', '--json-format', '--stdout', *notes[start:start + 50]],
                              capture_output=True, text=True, check=True).stdout
        for document in filter(None, text.splitlines()):
            for entry in json.loads(document)['files']:
                path = os.path.relpath(os.path.realpath(entry['file']), source_root)
                if path.startswith('src/'):
                    for line in entry['lines']:
                        ran = line['count'] > 0
                        number = line['line_number']
                        lines[path][number] = lines[path].get(number, False) or ran
    return lines


def print_table(title, rows):
    width = max(len(name) for name in [title, *rows])
    print(f"{title:<{width}}  {'lines':>7}  {'covered':>7}      %")
    for name, (total, ran) in rows.items():
        print(f'{name:<{width}}  {total:>7}  {ran:>7}  {100 * ran / max(total, 1):>5.1f}')


def main():
    lines = read_lines(sys.argv[1])
    if not lines:
        sys.exit(f'coverage: nothing was measured in {sys.argv[1]}')
    files = {path: (len(found), sum(found.values())) for path, found in sorted(lines.items())}
    folders = {}
    for path, (total, ran) in files.items():
        for name in (os.path.dirname(path), 'all'):
            before = folders.pop(name, (0, 0)) if name == 'all' else folders.get(name, (0, 0))
            folders[name] = (before[0] + total, before[1] + ran)
    if '--files' in sys.argv:
        print_table('file', files)
        print()
    print_table('folder', folders)


main()
