// Package acs simulates the CPE server (GenieACS 1.2) and a fleet of customers' devices that report to it. The
// northbound interface and the file server are on real sockets and behave as docs/facts/genieacs.md#interface says: the
// routes with their odd alphabets, the texts and headers, the reason phrases of tasks, the lock of a session, and a
// process that breaks off at requests that it cannot work on. Between server and devices there is no network: a session
// is a call.
//
// The server runs presets and provisions by a JavaScript engine: declare, clear, commit, log, args, ext, Date and Math.
// Preconditions are the simple ones: Tags.x IS NOT NULL, Tags.x IS NULL, DeviceID.X = "y", joined by AND, and
// {"_tags": "x"}. The extension is ours: ext("lastmile", "identify", ...) asks the address of Config.Identify, and
// EXT("lastmile", "signIn", ...) in the expression of cwmp.auth the one beside it. That expression has AUTH, EXT, texts
// and what informs say of DeviceID; devices answer its challenge by Basic or Digest. Not covered: virtual
// parameters as scripts, Downloads in scripts, schedules, aliases such as [Name:x] in paths.
//
// Devices have one of the two trees. Their informs come when Tick is called after the clock has passed their time, or
// by themselves with Config.Live. What follows a session (a boot, the end of a test, a transfer) happens in the
// background: Idle waits for it. Tests and downloads are really done over HTTP when the address is of this machine.
//
// Go methods or HTTP paths control it:
//
//	GET    /sim/devices                      list
//	POST   /sim/devices                      DeviceConfig: a device that is switched on and informs for the first time
//	GET    /sim/devices/{id}                 what the device itself has, with its secrets
//	DELETE /sim/devices/{id}                 the device goes; the server remembers it
//	PUT    /sim/devices/{id}/power           {"on": false}
//	PUT    /sim/devices/{id}/nat             {"on": true}: connection requests do not arrive
//	PUT    /sim/devices/{id}/faults          DeviceFaults; {} ends them
//	PUT    /sim/devices/{id}/parameters      {"path": value}: as by a person at the device
//	POST   /sim/devices/{id}/inform          {"events": ["2 PERIODIC"]}
//	POST   /sim/devices/{id}/reset           the button of factory defaults
//	GET    /sim/faults                       PUT: Faults of the server; {} ends them
//	PUT    /sim/identify                     Identify: where the extension asks
//	PUT    /sim/sign-in                      {"expression": "..."}: cwmp.auth; "" lets every device in
//	POST   /sim/tick                         informs of devices whose time has come
//	GET    /sim/log                          what scripts have logged
//	GET    /sim/requests                     the requests of the northbound interface
//	GET    /sim/idle                         answers when nothing is under way
//
// {id} is the server's id of the device, with its percent signs escaped. Two runs with the same seed, clock and order
// of requests give the same ids, keys and results.
package acs
