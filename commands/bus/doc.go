// Package bus executes commands: it loads the aggregate's stream, folds it, lets the aggregate decide, and appends what
// it decided at the revision that was read. It is written once for all aggregates and knows no area.
//
// # Use
//
//	b := bus.New(bus.Config{...})            // once, at the start of the program
//	bus.Register(b, billing.Accounts())      // once for each aggregates.Definition
//	done, err := b.Execute(ctx, cmd, meta)   // from then on, from any goroutine
//	s, revision, err := bus.LoadOwned[billing.Account](ctx, b, org, subscriber)
//
// A [Bus] has nothing to start or stop. It holds no connection of its own: the store in its [Config] belongs to the
// caller. [Result] says where the command's events stand; its Position is what a reader gives to a read model's WaitFor
// to see them.
//
// # Guarantees
//
//   - Repeat: a command id acts once. A second Execute with the same id gives the first outcome with Changed false, on
//     any replica. A stream that is closed into its next period hands on the ids of its last 256 commands.
//   - Race: every append names the exact revision. The loser of a race loads and decides again, three times, and then
//     fails with [ErrConcurrentChange]. With [commands.Meta].ExpectedRevision set, it fails with stale_revision
//     instead. Within one program, commands to one stream wait for each other.
//   - Crash: an aggregate's events are appended together or not at all. Between a claim and the append a crash leaves a
//     claim that nobody uses; after Config.ClaimPatience another aggregate may take it over.
//   - Outage: an append of unknown outcome is repeated for Config.AppendPatience; the store does the same event ids
//     once. Then Execute fails with eventstore_unavailable. The outcome is unknown: repeat with the same command id.
//   - Owner: what another organization owns is answered like what does not exist, for commands and for [LoadOwned].
//   - Memory: folded states are cached, and each load reads on from there to the end of the stream, so what another
//     replica wrote is always seen. A state that the bus gives out is shared and must not be changed.
//
// # Limits
//
// One command decides one aggregate. What needs several aggregates is a process (processmanagers) or a use case. A
// stream is closed into its next period near Config.PeriodLength events, for which the definition has Close. Commands
// that can hold personal text are not stored as rows: [Bus.EncodeStored] refuses them.
//
// # Read on
//
// The rules with their reasons: docs/rules/engine.md#commands-and-streams. Why claims follow the state: ADR 0003. What
// an aggregate is: package aggregates. How to add a command: docs/development.md.
package bus
