// Runs at each session and takes from the device what is not its any more: a mark names it. A login that the device
// got from other hands stays. While the device has the tag of a login, its marks wait until that one is on it.
const tags = tagPaths();

// The tags that scripts of an organization have set go when it does not have the device any more. Its name may begin
// that of another one, whose tags begin alike: so they go in the first session of that one, in which its scripts run
// behind this one, and not later. They go before the login, so that a device which keeps that one has none of them.
for (const mark of tags.filter((path) => path.startsWith(former) && tagOf(path) !== null)) {
  const name = mark.slice(former.length);
  if (!tags.includes(organization + name)) {
    for (const path of tags.filter((one) => one.startsWith("Tags." + name + "-") && tagOf(one) !== null)) {
      declare(path, null, {value: false});
    }
    declare(mark, null, {value: false});
  }
}

const marks = tags.filter((path) => path.startsWith(left) && tagOf(path) !== null);

if (marks.length > 0 && !tags.some((path) => path.startsWith(subscriber))) {
  const going = [];
  const usernames = ofConnections("Username", Date.now());
  for (const path of Object.keys(usernames)) {
    const name = usernames[path] == null ? "" : String(usernames[path]);
    if (name !== "" && marks.includes(markOf(name))) {
      going.push(path);
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
