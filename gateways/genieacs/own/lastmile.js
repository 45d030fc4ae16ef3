// The extension of the CPE server that asks the platform who a device is. It stands in GENIEACS_EXT_DIR. Whatever goes
// wrong it calls back null and no error, because an error would hold up the device's preset; the script asks again at
// the next inform. Neither the key nor the answer is ever printed: the answer has passwords.
"use strict";

const http = require("http");
const https = require("https");

// Of the whole exchange, in milliseconds: less than GENIEACS_EXT_TIMEOUT.
const LIMIT = 2500;

// Of the answer, in bytes.
const MOST = 1 << 20;

exports.identify = (args, callback) => {
  let told = false;
  const tell = (answer) => {
    if (!told) {
      told = true;
      callback(null, answer);
    }
  };
  let request;
  try {
    const address = new URL(process.env.LASTMILE_IDENTIFY_URL);
    const body = Buffer.from(JSON.stringify({
      serialNumber: args[0] || "", oui: args[1] || "", productClass: args[2] || "",
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
          console.error("identification was answered " + response.statusCode);
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
      console.error("identification failed: " + (error.code || "unknown"));
      tell(null);
    });
    const limit = setTimeout(() => {
      request.destroy();
      tell(null);
    }, LIMIT);
    request.on("close", () => clearTimeout(limit));
    request.end(body);
  } catch {
    console.error("identification is not set up: LASTMILE_IDENTIFY_URL");
    tell(null);
  }
};
