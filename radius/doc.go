// Package radius answers routers over RADIUS (RFC 2865, 2866, 2869, 5997; PAP, CHAP and both versions of MS-CHAP). It
// knows the protocol, and neither customers nor a database: a Directory decides about sign-ins, from memory, and an
// Accounting sink makes records durable. Package coa asks routers in the other direction.
//
// A Server has several sockets on each of its two ports, with one goroutine for each. That goroutine reads a packet,
// finds out who sent it, answers it and reads the next one. There is no goroutine for a packet, and a sign-in by PAP
// allocates nothing.
//
// # What is promised
//
//   - Repeat: the same octets from the same address and port get the same answer, octet for octet, and reach Directory
//     and sink once, for Limits.KeepFor. While a record is in work its repeats are swallowed. After that time, after a
//     restart, and when more than Limits.Answers requests of that router came in between, a repeat is a new request; a
//     router that gives its repeat a new identifier makes a new request too. So the sink must recognise records.
//   - Crash and outage: an accounting request is answered after the sink has called Record.Acknowledge, and never
//     otherwise. Without the answer the router repeats it, here or at another server. A sign-in is answered from
//     memory, so it needs nothing outside of the process.
//   - Flood: each router has a number of packets a second (Limits.Rate), a number of kept answers and a number of
//     records in work. What exceeds them is dropped before its signature is computed. So a router that floods costs the
//     others no answer that is kept, no place in the sink, and only the time to read and drop. Packets that pretend to
//     come from a router's address use up that router's number: nothing can tell them apart in time.
//   - Bad packets: a packet from an unknown address, with a wrong secret, or malformed gets no answer. It is counted
//     (metric lastmile_radius_packets_total), added up with others of its kind, and reported every 10 s to the log, at
//     most 20 lines, and to Config.Notices.
//   - Panic: it drops that one packet. The next one is answered.
//   - Stop: packets that were not read are lost, as on a network; routers repeat them.
//
// # Who may ask
//
// Own addresses of a NAS were given to it by the platform; there the address is enough to know it, and its
// Message-Authenticator is checked where there is one, or demanded (NAS.RequireMessageAuthenticator). Claimed addresses
// can be claimed by anybody, so the secret tells who asks: an Access-Request needs a valid Message-Authenticator there,
// an accounting request proves the secret by itself. So nobody shuts another's router out by claiming its address
// (docs/rules/access-radius.md#known-routers).
//
// Every answer to an Access-Request begins with a Message-Authenticator. So nobody on the way can turn a reject into an
// accept by choosing what is hashed (BlastRADIUS), even when the router does not check it.
//
// # Wrong attributes
//
// An Access-Request in which a known attribute has an impossible length, or proofs contradict each other, is rejected
// (RFC 2865, 5); such an accounting request is dropped (RFC 2866, 5). Lengths that do not add up, and two
// Message-Authenticators, drop the packet. EAP is rejected.
package radius
