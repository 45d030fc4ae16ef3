// Runs at each session and takes from the device a login that is not its any more: a mark names it. One that the device
// got from other hands stays. While the device has the tag of a login, its marks wait until the platform is asked.
const tags = tagPaths();
const marks = tags.filter((path) => path.startsWith(left));

if (marks.length > 0 && !tags.some((path) => path.startsWith(subscriber))) {
  const going = [];
  for (const found of usernames(Date.now())) {
    const path = first(found);
    for (const one of found) {
      const name = one.path === path + "Username" && one.value ? String(one.value[0]) : "";
      if (name !== "" && marks.includes(left + tagPath(name).slice("Tags.".length))) {
        going.push(path);
      }
    }
  }
  // A device that refuses one step has those before it, and its mark: they are done again.
  if (going.length > 0) {
    for (const path of going) {
      declare(path + "Enable", {value: 1}, {value: [false, "xsd:boolean"]});
    }
    commit();
    for (const path of going) {
      declare(path + "Username", {value: 1}, {value: ["", "xsd:string"]});
      // It reads as empty: so another one is written in its place.
      declare(path + "Password", {value: 1}, {value: ["none", "xsd:string"]});
    }
    commit();
  }
  for (const mark of marks) {
    declare(mark, null, {value: false});
  }
}
