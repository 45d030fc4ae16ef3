// Package bus executes commands: it loads the stream of the aggregate, folds it, lets the aggregate decide, and appends
// the events of the decision at the revision that was read. It serves all aggregates and has no rules of any area.
//
// # Use
//
//	b := bus.New(bus.Config{...})            // once, at the start of the program
//	bus.Register(b, billing.Accounts())      // once for each aggregates.Definition
//	done, err := b.Execute(ctx, cmd, meta)   // afterwards, from any goroutine
//	s, revision, err := bus.LoadOwned[billing.Account](ctx, b, org, subscriber)
//
// A [Bus] needs no start and no stop. It has no connection of its own: the store in its [Config] belongs to the caller.
// [Result] is the place of the command's events. A reader passes its Position to a read model's WaitFor to see them
// there.
//
// # Guarantees
//
//   - Repeat: a command id acts once. A second Execute with the same id gives the first outcome with Changed false, on
//     any replica. A stream that is closed into its next period passes on the ids of its last 256 commands.
//   - Race: every append names the exact revision. The loser of a race reads and decides again, three times, and then
//     fails with [ErrConcurrentChange]. With [commands.Meta].ExpectedRevision set, it fails with stale_revision
//     instead. Within one program, commands to one stream wait for each other.
//   - Crash: an aggregate's events are appended together or not at all. A crash between a claim and the append, or
//     between the append and a release, leaves an unused claim. After Config.ClaimPatience another aggregate may take
//     it over, and [commands.ReleaseUnusedClaim] frees it. A command that is slower than half of this time decides
//     again, so it does not append without its claims.
//   - Outage: an append of unknown outcome is repeated for Config.AppendPatience; the store appends the
//     same event ids only once. Then Execute fails with eventstore_unavailable. The outcome is unknown: repeat with
//     the same command id.
//   - Haste: a decision that its definition limits by Until is not sent to the log from that instant on. What was sent
//     before and has no answer has an unknown outcome.
//   - Owner: for another organization an aggregate does not exist, neither for commands nor for [LoadOwned].
//   - Memory: folded states are cached. A command is decided on the cached state first, without a read: the append is
//     refused when another replica has written meanwhile. Refusals, changes of nothing and lost races are decided again
//     on the stream as it is, and [LoadOwned] always reads to its end. A state that the bus returns is shared and must
//     not be changed.
//
// # Limits
//
// One command changes one aggregate. Work on several aggregates is a process (processmanagers) or a use case. A
// stream is closed into its next period near Config.PeriodLength events, when its definition has Close. Commands
// that can hold personal text are not stored as rows: [Bus.EncodeStored] refuses them.
//
// # Read on
//
// The rules with their reasons: docs/rules/engine.md#commands-and-streams. Why claims follow the state: ADR 0003. The
// parts of an aggregate: package aggregates. How to add a command: docs/development.md.
package bus
