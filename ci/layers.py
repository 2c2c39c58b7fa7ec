"""Draws the imports between the top-level modules of each crate, and fails on a cycle.

    python3 ci/layers.py            the crates below; exit code 1 and the imports of each cycle, if there is one
    python3 ci/layers.py --draw     every module with what it imports, lowest layer first

A module is a file or folder of src. Imports are `crate::name` anywhere in its sources but for tests.
"""
import os, re, sys

def modules(src):
    for entry in sorted(os.listdir(src)):
        name, ext = os.path.splitext(entry)
        path = os.path.join(src, entry)
        if os.path.isdir(path):
            yield entry, [os.path.join(d, f) for d, _, fs in os.walk(path) for f in fs if f.endswith('.rs')]
        elif ext == '.rs' and name not in ('lib', 'main'):
            yield name, [path]

def code(path):
    text = open(path, encoding='utf-8').read()
    text = re.split(r'\n#\[cfg\(test\)\]\nmod tests', text)[0]
    return re.sub(r'//[^\n]*', '', text)

def used(text):
    for match in re.finditer(r'\bcrate::(\{[^;]*\}|\w+)', text):
        what = match.group(1)
        if what.startswith('{'):
            depth, name = 0, ''
            for ch in what[1:-1] + ',':
                if ch in '{': depth += 1
                if ch in '}': depth -= 1
                if ch == ',' and depth == 0:
                    yield re.match(r'\s*(\w*)', name).group(1); name = ''
                else: name += ch
        else: yield what

def graph(src):
    files = {}
    for name, paths in modules(src): files.setdefault(name, []).extend(paths)
    edges = {}
    for name, paths in files.items():
        for path in paths:
            for target in used(code(path)):
                if target in files and target != name: edges.setdefault(name, {}).setdefault(target, []).append(path)
    return files, edges

def cycles(files, edges):
    index, low, stack, on, out = {}, {}, [], set(), []
    def visit(v):
        index[v] = low[v] = len(index); stack.append(v); on.add(v)
        for w in edges.get(v, {}):
            if w not in index: visit(w); low[v] = min(low[v], low[w])
            elif w in on: low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while True:
                w = stack.pop(); on.discard(w); part.append(w)
                if w == v: break
            out.append(part)
    for v in files:
        if v not in index: visit(v)
    return out

for src in sys.argv[1:]:
    files, edges = graph(src)
    for part in cycles(files, edges):
        if len(part) > 1:
            print(src, 'cycle of', len(part), sorted(part))
            for v in sorted(part):
                for w in sorted(edges.get(v, {})):
                    if w in part: print('   ', v, '->', w, len(set(edges[v][w])), sorted({os.path.relpath(p, src) for p in edges[v][w]})[:6])
