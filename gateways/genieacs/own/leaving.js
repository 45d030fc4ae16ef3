// Runs at each session and takes from the device a login that is not its any more: a mark names it. One that the device
// got from other hands stays. While the device has the tag of a login, its marks wait until that one is on it.
const tags = tagPaths();
const marks = tags.filter((path) => path.startsWith(left) && tagOf(path) !== null);

if (marks.length > 0 && !tags.some((path) => path.startsWith(subscriber))) {
  const going = [];
  for (const found of usernames(Date.now())) {
    const path = first(found);
    for (const one of found) {
      const name = one.path === path + "Username" && one.value ? String(one.value[0]) : "";
      if (name !== "" && marks.includes(markOf(name))) {
        going.push(path);
      }
    }
  }
  // The password first: with the step after it a device may lose the line over which it calls. It reads as empty, so
  // another one is written in its place. The username last: by it the script finds what is left to do when a device
  // refuses a step. What it has taken before, and the marks, stay so.
  for (const [name, value] of [["Password", ["none", "xsd:string"]], ["Enable", [false, "xsd:boolean"]],
    ["Username", ["", "xsd:string"]]]) {
    if (going.length > 0) {
      for (const path of going) {
        declare(path + name, {value: 1}, {value: value});
      }
      commit();
    }
  }
  for (const mark of marks) {
    declare(mark, null, {value: false});
  }
}
