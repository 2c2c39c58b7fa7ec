
# ---- From here on the same in every reproducer. ----

STORED = {
    "f64": "<u8", "u64": "<u8", "f32": "<u4", "tf32": "<u4", "u32": "<u4",
    "f16": "<u2", "bf16": "<u2", "u16": "<u2", "e4m3": "u1", "e5m2": "u1", "u8": "u1",
}
FRAME = struct.Struct("<6sHIQ")
WIDTH = 8 * np.dtype(STORED[OUT]).itemsize


def number(bits):
    """The value of an element of the result's type."""
    raw = np.array([bits], STORED[OUT])
    if OUT == "bf16":
        return float((raw.astype("<u4") << 16).view("<f4")[0])
    return float(raw.view({64: "<f8", 32: "<f4", 16: "<f2"}[WIDTH])[0])


def order(bits):
    """The place of a bit pattern among all of its type: -0 is just below 0."""
    sign = 1 << (WIDTH - 1)
    magnitude = bits & (sign - 1)
    return -1 - magnitude if bits & sign else magnitude


def is_right(want, bits):
    value = number(bits)
    if math.isnan(value):
        return want["nan"]
    if math.isinf(value):
        return want["inf"] if value > 0 else want["minus_inf"]
    return want["lowest"] <= order(bits) <= want["highest"]


def check_elements(values):
    wrong = 0
    for want in WANTS:
        found = int(values[want["at"]]) if want["at"] < len(values) else None
        if found is not None and is_right(want, found):
            continue
        wrong += 1
        if wrong <= 20:
            shown = "nothing" if found is None else f"{number(found)!r} (0x{found:x})"
            bound = "" if want["bound"] is None else f"; bound {want['bound']:.3g}"
            place = f"element ({want['row']}, {want['col']})"
            print(f"{place}: expected {want['exact']}, rounded {number(want['bits'])!r} (0x{want['bits']:x}); found {shown}{bound}")
    print(f"{wrong} of {len(WANTS)} elements wrong")
    return wrong


def check(answer, arrays):
    if answer.get("inputs_modified"):
        print("an input changed")
        return 1
    if answer.get("guard_broken") is not None:
        print(f"offset {answer['guard_broken']} lies outside the result and was written")
        return 1
    if OUTPUT is not None:
        values = arrays.get(OUTPUT, np.array([], STORED[OUT]))
        wrong = check_elements(values)
        before, inside = ARRAYS[OUTPUT][1], {want["at"] for want in WANTS}
        for at in range(len(values) if WANTS else 0):
            if at not in inside and int(values[at]) != before[at]:
                print(f"offset {at} lies outside the result and was written")
                wrong += 1
        return wrong
    wrong = 0
    for name, (kind, bits) in WANT_ARRAYS.items():
        same = name in arrays and arrays[name].tolist() == bits
        print(f"array {name}: {'as expected' if same else 'other than expected'}")
        wrong += not same
    return wrong + (check_elements(arrays.get("values", [])) if WANTS else 0)


def send(process, header, payload=b""):
    text = json.dumps(header).encode()
    try:
        process.stdin.write(FRAME.pack(b"SPCONF", 1, len(text), len(payload)) + text + payload)
        process.stdin.flush()
    except BrokenPipeError:
        # It has ended: what is read next says so. Closing writes once more what is left.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def receive(process, asked=True):
    prefix = process.stdout.read(FRAME.size)
    if len(prefix) < FRAME.size:
        print(f"the backend died (exit status {process.wait()})")
        if not asked:
            print("it was not asked yet: does it speak the protocol?")
        sys.exit(1 if asked else 2)
    _, _, header, payload = FRAME.unpack(prefix)
    head, data = json.loads(process.stdout.read(header)), process.stdout.read(payload)
    kinds = {a["name"]: (a["dtype"], a["count"], a["offset"]) for a in head.get("arrays", [])}
    return head, {name: np.frombuffer(data, STORED[k], n, at) for name, (k, n, at) in kinds.items()}


def main(command):
    if not command:
        print(f"usage: python3 {sys.argv[0]} backend.py | COMMAND...", file=sys.stderr)
        return 2
    if len(command) == 1 and command[0].endswith(".py"):
        command = [sys.executable, command[0]]
    payload, heads = b"", []
    for name, (kind, bits) in ARRAYS.items():
        payload += bytes(-len(payload) % 64)
        heads.append({"name": name, "dtype": kind, "count": len(bits), "offset": len(payload)})
        payload += np.array(bits, STORED[kind]).tobytes()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        send(process, {"type": "hello"})
        manifest = receive(process, asked=False)[0]["manifest"]
        print(f"backend {manifest['name']}")
        patterns = [p for rule in manifest.get("supports", []) for p in rule.get("contracts", [])]
        # Its "only" and "excludes" are not looked at.
        if not any(fnmatch.fnmatchcase(HEADER["contract"], pattern) for pattern in patterns):
            send(process, {"type": "bye"})
            print(f"its manifest does not name {HEADER['contract']}: it is not asked")
            return 2
        send(process, {**HEADER, "arrays": heads}, payload)
        answer, arrays = receive(process)
        send(process, {"type": "bye"})
    if answer["outcome"] in ("refused", "unsupported"):
        print(f"{answer['outcome']}: {answer.get('message', '')}")
        return 0 if MUST_REFUSE else 1
    if MUST_REFUSE:
        print(f"accepted what must be refused: {MUST_REFUSE}")
        return 1
    wrong = check(answer, arrays)
    print("wrong" if wrong else "right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
