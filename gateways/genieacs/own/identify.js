// Asks the platform who the device is, and applies the answer in the same session: tags and tasks from outside would
// come before the device exists. It reads what it needs for that alone, so that a device which fails about something
// else has its login.
const now = Date.now();
const told = ask();
const ours = [organization, "Tags.plan0x3A", subscriber];

// The platform names the first connection of each data model; a device has its own somewhere.
const usual = [
  "Device.PPP.Interface.1.", "InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.",
];

// The connection of each data model that the login belongs to; "" where the device has none.
function lines(tags, marks, wanted) {
  const usernames = ofConnections("Username", now);
  const facts = {
    enabled: ofConnections("Enable", now), status: ofConnections("ConnectionStatus", now),
    kind: ofConnections("ConnectionType", now),
  };
  const mine = (name) => name === wanted || marks.includes(markOf(name)) || tags.includes(tagFor("sub:", name));
  return usual.map((path) => preferred(path.slice(0, path.indexOf(".")), usernames, facts, mine));
}

// Writes the login, and gives the usernames that were declared with what the device has of them.
function login(parameters, tags, marks) {
  const logins = [];
  const settings = parameters.filter(([name]) => usual.some((path) => name.startsWith(path)));
  if (settings.length > 0) {
    const username = settings.find(([name]) => name.endsWith(".Username"));
    const own = lines(tags, marks, username ? username[1] : "");
    // Of the password only that it is there: it reads as empty.
    for (const at of dialled) {
      declare(at + "Password", {path: now, writable: now});
    }
    for (const [name, value, type] of settings) {
      const model = usual.findIndex((path) => name.startsWith(path));
      if (own[model] !== "") {
        const path = own[model] + name.slice(usual[model].length);
        const one = declare(path, {value: 1}, {value: type ? [value, type] : value});
        if (name.endsWith(".Username")) {
          logins.push([one, value]);
        }
      }
    }
  }
  return logins;
}

if (!told) {
  // The platform was out of reach: the next inform asks again.
  declare(waiting, null, {value: true});
} else {
  declare(waiting, null, {value: false});
  const wanted = (told.tags || []).map(tagPath);
  const tags = tagPaths();
  const marks = tags.filter((path) => path.startsWith(left));
  for (const path of tags) {
    if (ours.some((prefix) => path.startsWith(prefix)) && !wanted.includes(path) && tagOf(path) !== null) {
      declare(path, null, {value: false});
      if (path.startsWith(organization)) { // its own scripts may run in this session, and set tags
        declare(former + path.slice(organization.length), null, {value: true});
      }
      if (path.startsWith(subscriber)) { // the device may have this login, whatever becomes of another one
        const mark = left + path.slice(subscriber.length);
        declare(mark, null, {value: true});
        marks.push(mark);
      }
    }
  }
  for (const path of wanted) {
    declare(path, null, {value: true});
  }
  const logins = login(told.parameters || [], tags, marks);
  if (logins.length > 0 && marks.length > 0) {
    // A device that refuses the login ends the script here, and keeps its marks.
    commit();
    if (logins.some(([one, value]) => one.value && String(one.value[0]) === String(value))) {
      for (const mark of marks.filter((path) => tagOf(path) !== null)) {
        declare(mark, null, {value: false});
      }
    }
  }
}
