// The extension of the CPE server that asks the platform who a device is, and whether it is let in. It stands in
// GENIEACS_EXT_DIR. Whatever goes wrong it calls back null and no error: an error would hold up the device's preset, and
// the script asks again at the next inform; and who cannot be asked about is not let in. Neither the key nor the answer
// is ever printed: the answer has passwords.
"use strict";

const http = require("http");
const https = require("https");

// Of the whole exchange, in milliseconds: less than GENIEACS_EXT_TIMEOUT.
const LIMIT = 2500;

// Of the answer, in bytes.
const MOST = 1 << 20;

// Who a device is: serial number, OUI and product class, and behind them the address that it tells.
exports.identify = (args, callback) => {
  const more = args.length > 3 ? {address: text(args[3])} : {};
  ask("identification", "", args, more, (answer) => callback(null, answer));
};

// With the identity alone it gives the password that the device must show, null when it has none. With whether the
// device has shown it behind that, it gives whether the device is let in.
exports.signIn = (args, callback) => {
  if (args.length < 4) {
    ask("sign-in", "sign-in", args, {}, (answer) => callback(null, answer && answer.password));
    return;
  }
  const shown = String(args[3]) === "true";
  ask("sign-in", "sign-in", args, {shown}, (answer) => callback(null, answer !== null && answer.admitted === true));
};

// What a device does not send is null, and said as an empty text.
function text(value) {
  return value == null ? "" : String(value);
}

// Posts the identity, and more, to the address of the identification or to one beside it, and tells the answer once.
function ask(what, path, args, more, then) {
  let told = false;
  const tell = (answer) => {
    if (!told) {
      told = true;
      then(answer);
    }
  };
  let request;
  try {
    const address = new URL(path, process.env.LASTMILE_IDENTIFY_URL);
    const body = Buffer.from(JSON.stringify({
      serialNumber: text(args[0]), oui: text(args[1]), productClass: text(args[2]), ...more,
    }));
    request = (address.protocol === "https:" ? https : http).request(address, {
      method: "POST",
      headers: {
        "Content-Type": "application/json", "Content-Length": body.length,
        "X-Internal-Key": process.env.LASTMILE_INTERNAL_KEY || "",
      },
    }, (response) => {
      const parts = [];
      let size = 0;
      response.on("data", (part) => {
        size += part.length;
        if (size > MOST) {
          request.destroy();
          tell(null);
          return;
        }
        parts.push(part);
      });
      response.on("error", () => tell(null));
      response.on("end", () => {
        if (response.statusCode !== 200) {
          console.error(what + " was answered " + response.statusCode);
          tell(null);
          return;
        }
        try {
          tell(JSON.parse(Buffer.concat(parts).toString("utf8")));
        } catch {
          tell(null);
        }
      });
    });
    request.on("error", (error) => {
      console.error(what + " failed: " + (error.code || "unknown"));
      tell(null);
    });
    const limit = setTimeout(() => {
      request.destroy();
      tell(null);
    }, LIMIT);
    request.on("close", () => clearTimeout(limit));
    request.end(body);
  } catch {
    console.error(what + " is not set up: LASTMILE_IDENTIFY_URL");
    tell(null);
  }
}
