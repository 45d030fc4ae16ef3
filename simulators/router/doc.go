// Package router is MikroTik routers on real sockets, many in one process. Each has one configuration store behind two
// protocols: REST (www and www-ssl, with a self-signed certificate) and the API protocol (api and api-ssl), with the
// same validation and the same words. Versions differ as facts/routeros.md says: before 7.1 there is no REST and www
// shows a page, before 7.9 REST is on www-ssl only, dates are ISO from 7.10, "!empty" comes from 7.18, and ip/service
// lists connections from 7.19.
//
// A router is driven in Go (Do, Connect, SetFaults, SetPower, ...) or over the control surface:
//
//	GET    /sim/routers                              list
//	GET    /sim/routers/{name}/config?dynamic=true   configuration by menu
//	GET    /sim/routers/{name}/log                   writes over a protocol
//	POST   /sim/routers/{name}/edit                  {"menu", "command", "args"}: what a colleague does in Winbox
//	PUT    /sim/routers/{name}/sessions/{user}       Session; DELETE ends it
//	PUT    /sim/routers/{name}/faults                Faults; {} ends them
//	POST   /sim/routers/{name}/reboot
//	PUT    /sim/routers/{name}/power                 {"on": false}
//	PUT    /sim/routers/{name}/links/{interface}     {"up": false}
//	PUT    /sim/routers/{name}/traffic/{interface}   {"rxBytes", "txBytes", "rxRate", "txRate"}
//	PUT    /sim/routers/{name}/seen-from             {"address"}: whom a loopback client stands for in address filters
//
// Two runs with the same seed, clock and order of requests give the same ids, addresses and counters.
package router
