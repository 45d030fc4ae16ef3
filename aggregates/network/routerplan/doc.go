// Package routerplan says, without touching any router, what should stand on one and how it gets there. It is pure:
// what was read from a router goes in, the ordered writes come out. Workers (jobs/network) read and write; they decide
// nothing.
//
// # Words
//
//   - [Snapshot]: what was read, rows by menu. [ServiceMenus] says which menus to read, [FirewallMenus] and others for
//     other questions.
//   - [Service]: what a service should be: where it is bound, its addresses. [Desired] lists what it wants
//     to stand on a router, each a [Resource], in the order of creation.
//   - [Diff]: what differs between the two, each a [Difference], and the plan that ends it. A [Step] is one
//     write of the plan.
//   - A row belongs to a service by its comment ([ServiceComment]), or by its name ([Slug]) in menus without comments.
//
// # Use
//
//	snapshot := read(routerplan.ServiceMenus())
//	diff := routerplan.CompareDevice(snapshot, services, version)
//	for _, step := range diff.Plan() {
//		send(step) // in this order
//	}
//	// read and compare again, until diff.InSync()
//
// [CompareService] looks at one service, [CompareRemoval] at what a service leaves behind, [CompareFirewall] at the
// platform's firewall rules. All writes are announced before the first is sent, in the form of [Step.Audit].
// Before a write to a row that is there already ([Step.Touches]) the worker reads that row again, and [Step.Still]
// reports whether it is the one that was meant.
//
// # Guarantees
//
//   - Repeat: a router that is as it should be gives no steps. Sending the steps and comparing again gives none.
//   - Order: what refers to others is removed before what it refers to, and created after it.
//   - The operator's own rows, and all properties that the platform does not decide, are left as they are.
//   - Crash: [Lost] finds the writes that were announced and happened although nobody recorded it.
//   - The order of rows, their identifiers and the way in which a router writes a value ([SameValue]) make no
//     difference. [Diff.Hash] is the same for the same difference.
//   - Secrets and identifiers are in a step, and never in what it shows ([Step.Audit], [Diff.Resources]).
//
// # Limits
//
// A snapshot is right for the instant in which it was read; identifiers in it mean nothing after the next read. What a
// router refuses is known only when it refuses: the worker records it and compares again.
//
// # Also here
//
// [Reserved] and [Picker]: which interfaces are not to be touched and which may be offered. [FirewallRules]: the
// platform's rules. [Bootstrap]: the script that a new router is given. [AccelPPP] and [RouterConcentrator]: the
// configuration of the tunnel's other end.
//
// # Read on
//
// ADR 0013 (a router is read, compared and written), docs/rules/network.md#drift, docs/rules/network.md#reconcile,
// docs/facts/routeros.md#values.
package routerplan
