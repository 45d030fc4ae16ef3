// Package routerplan decides what a router should have and which writes lead there. It is pure and touches no router:
// it takes the rows that were read from a router and returns ordered writes. Workers (jobs/network) read and write, and
// decide nothing.
//
// # Words
//
//   - [Snapshot]: the rows that were read, by menu. [ServiceMenus] lists the menus to read for services, and there is
//     such a list for every other question, such as [FirewallMenus].
//   - [Service]: the desired state of a service: its place on the router and its addresses. [Desired] lists the
//     rows that the router should have for it, each a [Resource], in the order of creation.
//   - [Diff]: the differences between the two, each a [Difference], and the plan that removes them. A [Step] is
//     one write of the plan.
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
// [CompareService] compares one service, [CompareRemoval] finds everything of a service that must be removed, and
// [CompareFirewall] compares the platform's firewall rules. All writes are announced before the first is sent, in the
// form of [Step.Audit]. Before a write to an existing row ([Step.Touches]) the worker reads the row again, and
// [Step.Still] reports whether it is still the intended one.
//
// # Guarantees
//
//   - Repeat: a router that is as desired gives no steps. After all steps are sent, the next comparison gives none.
//   - Order: a row is removed before the rows that it refers to, and created after them.
//   - The operator's own rows, and all properties that the platform does not decide, are left as they are.
//   - Crash: [Lost] finds the writes that were announced and done, but not recorded.
//   - The order of rows, their identifiers and the way in which a router writes a value ([SameValue]) make no
//     difference. [Diff.Hash] is the same for the same difference.
//   - Secrets and row ids are in a step, but never in its form for people ([Step.Audit], [Diff.Resources]).
//
// # Limits
//
// A snapshot is right at the time of the read; its row ids are valid only until the next read. A refusal by the router
// cannot be foreseen: the worker records it and compares again.
//
// # Also here
//
// [Reserved] and [Picker]: the interfaces that no service may use, and those that an operator may choose.
// [FirewallRules]: the platform's rules. [Bootstrap]: the script for a new router. [AccelPPP] and [RouterConcentrator]:
// the configuration of the tunnel's concentrator.
//
// # Read on
//
// ADR 0013 (a router is read, compared and written), docs/rules/network.md#drift, docs/rules/network.md#reconcile,
// docs/facts/routeros.md#values.
package routerplan
