#!/usr/bin/python3
"""Turns what a server says of its commands into the lines that test_command.c compares with.

    redis-cli --json command | tests/wire/golden/commands.py > tests/wire/golden/redis-7.0.15.tsv

A line: name, arity, flags, first, last, step, key specifications. Of subcommands only those that
have keys. A specification is index:range:LAST:STEP or index:keynum:STEP, or the server's own name
for what is neither.
"""
import json
import sys


def specification(spec):
    begin, find = spec['begin_search'], spec['find_keys']
    where = begin['spec'].get('index', begin['type'])
    if find['type'] == 'range':
        return f"{where}:range:{find['spec']['lastkey']}:{find['spec']['keystep']}"
    if find['type'] == 'keynum':
        return f"{where}:keynum:{find['spec']['keystep']}"
    return f"{where}:{find['type']}"


def line(command):
    name, arity, flags, first, last, step, _, _, specs = command[:9]
    return '\t'.join([name.upper(), str(arity), ','.join(sorted(flags)) or '-', str(first),
                      str(last), str(step), ' '.join(map(specification, specs)) or '-'])


def main():
    commands = json.load(sys.stdin)
    lines = [line(command) for command in commands]
    lines += [line(sub) for command in commands for sub in command[9] if sub[8]]
    print('\n'.join(sorted(lines)))


main()
