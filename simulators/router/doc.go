// Package router simulates MikroTik routers on real sockets, many in one process. Each has one configuration store
// behind two protocols: REST (www and www-ssl) and the API protocol (api and api-ssl), with the same validation and the
// same texts. It is no kinder than a router (docs/facts/routeros.md#simulating): see Connect, SetPower, Dial and
// Certify. With RouterConfig.RADIUS its customers sign in at a real RADIUS server, in the shapes of package handset:
// see SignIn and SwitchOn.
//
// Versions differ as docs/facts/routeros.md#releases says: before 7.1 there is no REST and www shows a page, before 7.9
// REST is on www-ssl only, dates are ISO from 7.10, "!empty" comes from 7.18, and ip/service lists connections from
// 7.19.
//
// Go methods (Do, Connect, SetFaults, SetPower, ...) or HTTP paths control a router:
//
//	GET    /sim/routers                              list
//	GET    /sim/routers/{name}/config?dynamic=true   configuration by menu
//	GET    /sim/routers/{name}/log                   writes over a protocol
//	POST   /sim/routers/{name}/edit                  {"menu", "command", "args"}: a change as with Winbox
//	PUT    /sim/routers/{name}/sessions/{user}       Session; DELETE ends it
//	PUT    /sim/routers/{name}/customers/{user}      a device that dials whenever it is offline; GET shows it
//	PUT    /sim/routers/{name}/customers/{user}/power {"on": false}
//	PUT    /sim/routers/{name}/radius/faults         handset.Faults
//	GET    /sim/routers/{name}/radius/statistics
//	PUT    /sim/routers/{name}/leases/{address}      Lease: a device that got its address by DHCP
//	PUT    /sim/routers/{name}/faults                Faults; {} ends them
//	POST   /sim/routers/{name}/reboot
//	PUT    /sim/routers/{name}/power                 {"on": false}
//	POST   /sim/routers/{name}/clock                 {"seconds": -3600}: a step of the router's own clock
//	PUT    /sim/routers/{name}/links/{interface}     {"up": false}
//	PUT    /sim/routers/{name}/traffic/{interface}   {"rxBytes", "txBytes", "rxRate", "txRate"}
//	PUT    /sim/routers/{name}/seen-from             {"address"}: the client's address for address filters
//
//	POST   /sim/routers/{name}/script                {"text", "paste": false}: runs a RouterOS script
//
// Script and Paste run the part of RouterOS's scripting language that a bootstrap script needs: menu commands with
// space paths (slash paths from 7.1), add, set, remove, print count-only, find and get with conditions, enable,
// disable, move; :put, :local, :global, :set, :if, :foreach, :for, :while, :do with on-error and while, :delay (which
// takes no time), :error, :return, :len, :pick, :find, :tostr, :tonum, :toarray, :typeof, :parse, :execute, :log,
// functions, strings with escapes and $ in them, numbers, booleans, lists, and the operators in parentheses. As on a
// router, an unknown command, parameter or fixed word is a fault of the whole text that no on-error catches, the
// numbers of print are not valid, and local variables end with their block or, pasted, with their line. Not covered:
// keys of arrays, arithmetic on times and addresses, bit operators, files, /tool fetch, and print's output.
//
// Transit tells how a packet between two networks would leave a router. No packet really passes.
//
// Two runs with the same seed, clock and order of requests give the same ids, addresses and counters.
package router
