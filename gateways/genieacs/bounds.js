})(...(function (declare, clear, log, prefix) {
  // Stands behind each script of an organization, which calls these instead of the server's own: what a script has
  // declared and logged is worked on where no limit of time holds. A long text is known by its length alone: whoever
  // looks into it puts it together. All counts begin anew at each run, and a run that begins again counts the same.
  // The last one is called by each turn of a loop and by each function: a script that runs until its time is up, again
  // and again, would hold up all devices.
  const longest = 1024, mostCalls = 200, mostLines = 20, mostInstances = 16, mostSteps = 100000;
  const longestTag = 200, mostTags = 100, mostNewTags = 10;
  let calls = 0, lines = 0, steps = 0, tags = null, fresh = 0;

  const plain = (value) => {
    switch (typeof value) {
    case "string":
      if (value.length > longest) {
        throw new Error("a text of more than " + longest + " characters");
      }
      return value;
    case "number":
    case "boolean":
      return value;
    }
    return value && value.getTime ? value.getTime() : null;
  };
  // The server takes no other signs in a path, a dot for the beginning of another part, and some of what is left for a
  // sign that is written by its number: it stores another tag then, or ends. Longer ones could not be taken by name.
  const isTag = (path) => typeof path === "string" && path.startsWith("Tags.");
  const pathOf = (value) => {
    const path = plain(value);
    if (isTag(path)) {
      const tag = path.slice("Tags.".length);
      if (!/^[A-Za-z0-9_-]+$/.test(tag)) {
        throw new Error("a tag with other signs than letters, digits, - and _");
      }
      if (/0x[0-9A-Z]{2}/.test(tag)) {
        throw new Error("a tag with 0x before two digits or capitals");
      }
      if (tag.length > longestTag) {
        throw new Error("a tag of more than " + longestTag + " characters");
      }
    }
    return path;
  };
  // Tags stay on a device: of a script that finds new names at each call there are more and more, until the device's
  // document is too large for the server. Those that the device has are looked for when the first one is to be set,
  // which does first what was declared before: so those that were taken until then make room, and others do not. What
  // the other scripts of the session set at the same time is not seen, so that each of them may set a few new ones.
  const setsTag = (path, value) => {
    const on = Array.isArray(value) ? value[0] : value;
    if (on === undefined || on === false) {
      return;
    }
    if (tags === null) {
      const found = [...declare("Tags.*", {value: 1})].map((one) => one.path);
      tags = new Set(found.filter((one) => one.startsWith("Tags." + prefix)));
    }
    if (tags.has(path)) {
      return;
    }
    if (tags.size >= mostTags) {
      throw new Error("more than " + mostTags + " tags of the organization on the device: take old ones away first, or " +
        "set the same ones at each call");
    }
    if (++fresh > mostNewTags) {
      throw new Error("more than " + mostNewTags + " new tags in one run: set the others in another script, or at a " +
        "later call");
    }
    tags.add(path);
  };
  const list = (value, most) => Array.isArray(value) ? value.slice(0, most).map(plain) : plain(value);
  const instant = (value) => {
    const out = plain(value);
    return typeof out === "number" ? out : 0;
  };
  const instants = (given) => {
    const out = {};
    for (const name of ["path", "value", "writable", "object", "notification", "accessList"]) {
      if (given && given[name] !== undefined) {
        out[name] = instant(given[name]);
      }
    }
    return out;
  };
  const values = (given) => {
    const out = {};
    for (const [name, most] of [["value", 2], ["notification", 1], ["accessList", 16]]) {
      if (given && given[name] !== undefined) {
        out[name] = list(given[name], most);
      }
    }
    if (given && given.path !== undefined) {
      if (!Number.isInteger(given.path) || given.path < 0 || given.path > mostInstances) {
        throw new Error("a number of instances that is none from 0 to " + mostInstances);
      }
      out.path = given.path;
    }
    return out;
  };
  const shown = (value) => {
    if (typeof value === "string" && value.length > longest) {
      return "(a text of more than " + longest + " characters)";
    }
    const text = Array.isArray(value)
      ? value.slice(0, 8).map((one) => Array.isArray(one) ? "[]" : shown(one)).join(",") : String(value);
    return text.slice(0, longest);
  };

  return [
    (path, known, wanted) => {
      if (++calls > mostCalls) {
        return [];
      }
      const where = pathOf(path), what = values(wanted);
      if (isTag(where)) {
        setsTag(where, what.value);
      }
      return declare(where, instants(known), what);
    },
    (path, before, attributes) => {
      if (++calls <= mostCalls) {
        clear(pathOf(path), instant(before), attributes ? instants(attributes) : undefined);
      }
    },
    (message) => {
      if (++lines <= mostLines) {
        log(shown(message));
      }
    },
    (more) => {
      steps += more;
      if (steps > mostSteps) {
        throw new Error("more than " + mostSteps + " steps");
      }
      return true;
    },
  ];
})(declare, clear, log, PREFIX));
