// Package handset simulates customers who sign in at a router, over PPPoE or at a hotspot: a network access server
// (NAS) that speaks real RADIUS on real sockets in the shapes of RouterOS (docs/facts/radius.md#captured-requests). It
// asks for access, verifies every answer, reports sessions, and obeys requests to change or to end a session. It shares
// no code with package radius, so that a mistake there is not repeated here.
//
// Time: sessions, counters and repeats of requests go by Config.Clock, so that a moved clock ends sessions and lets
// counters grow. Round trips are real time.
//
// Load: there is no goroutine for a session or a request. Each socket has one reader, and one goroutine does what is
// due; tens of thousands of sessions fit into one process. Faults follow from Config.Seed and the session's id.
package handset
