// Package runner fills read models from the log and reports up to which position they show it. A read model is a
// [Projection]: tables, and a pure translation of events into SQL statements on them. The runner reads the log, commits
// rows and checkpoint together, builds new tables beside the old ones, and serves the reads.
//
// # Use
//
//	r := runner.New(runner.Config{Feed: f, DB: db, Clock: clock.System()})
//	r.Register(subscribersviews.Plans{}, billingviews.Invoices{})
//	err := r.Start(ctx) // tables are made or migrated, then filled in the background
//	defer r.Stop()
//	err = r.Views().WaitFor(ctx, "plans", done.Position) // done: the result of the command
//	err = r.Views().Tenant(ctx, org, func(reads *postgres.Reads) { ... })
//
// The owner of the feed starts it before the runner and stops it after the runner. Start and Stop keep the contract of
// package internal/loop. [Views] serves reads: its statements name tables as {schema}.table, since a rebuild changes
// the schema. [Memory] fills, from the same log, a model in memory that answers without a query.
//
// # Guarantees
//
//   - Crash: rows and checkpoint commit in one transaction, so each event is in the rows exactly once. Work that was
//     not committed is done again.
//   - Race: one program fills the tables of a projection's version, by an advisory lock; the others follow its progress
//     and serve reads. A checkpoint moves only from the value that was read, so a leader that lost its lock writes
//     nothing.
//   - Versions: a program reads and fills the tables of its own version only. While they are built for the first time,
//     reads fail with [ErrBuilding]; programs of the older version go on with theirs. An older program never builds its
//     tables again beside those of a newer version.
//   - Order: events come in the order of the log. [Views.WaitFor] returns when everything up to a position is shown,
//     and gives up after 2 s, or the [Config]'s Patience, with [ErrBehind].
//   - Outage: while the log or the database is away, the projection waits; afterwards it continues where it stopped.
//   - Poison: an event that Apply refuses, or whose statement can never succeed, stops this projection alone. [Status]
//     has the reason. No event is skipped, also none that a newer version of the program has written. Repair the
//     code and start again, or call [Runner.Retry]. A [Memory] stops in the same way and tries again by itself.
//   - Lost events: tables that show more than the log has stop too, also when the log has grown again since. Only new
//     tables go on.
//   - Rebuild: a higher Version, or [Runner.Rebuild], fills a new schema while the old one is read, and switches in one
//     transaction when it has caught up. [Runner.Verify] replays into a scratch schema and compares.
//   - Tenants: the tables in TenantTables are under row-level security. [Views.Tenant] sees one organization's rows,
//     whatever the statement says.
//
// # Limits
//
// Apply sees one event and its own tables: no clock, no gateway, no query for each event, no other projection. It makes
// upserts that give the same rows in a replay. Nothing lives only in a read model, and no command is decided by reading
// one. The tables that a rebuild replaced are dropped ten minutes later, so a reader asks [Views.SQL] for the names
// for each read.
//
// # Read on
//
// The rules with their reasons: docs/rules/engine.md#projections. How one reader serves all: ADR 0011. How to test a
// projection: package projectiontest. How to add one: docs/development.md.
package runner
