// Package eventstore is the log: appends with an exact expected revision, reads in pages, and subscriptions that
// survive a lost connection. It is the only user of the EventStoreDB client, and the same code talks to the embedded
// node and to a cluster. Business code does not come here: it executes commands (package bus) and reads read models.
//
// # Words
//
// A stream is named "<category>-<uuid>" and holds the events of one aggregate. The revision of an event is its number
// in the stream, from 0. All events of all streams stand in one log, $all. The position of an event in $all is the only
// order between streams. Positions grow, with gaps. The codec (package catalog) encodes and decodes events and encrypts
// their personal fields.
//
// # Use
//
//	store, err := eventstore.Open(ctx, eventstore.Config{
//		URL: node.URL(), Local: node.Local, Codec: catalog.New(keys),
//	})
//	defer store.Close()
//	done, err := store.Append(ctx, stream, eventstore.NoStream, []eventstore.New{{Event: e, Meta: meta}})
//	list, err := store.Read(ctx, stream, 0)
//	sub := store.Subscribe(ctx, after, types)
//	item, err := sub.Next(ctx)
//
// Open checks only the syntax of the address. [Store.Ping] fails when the store does not answer. The package connects
// by itself, and again after each lost connection.
//
// # Guarantees
//
//   - Race: [Store.Append] names the revision that its writer has read, or [NoStream]. When the stream has another
//     revision, Append writes nothing and fails with [ErrWrongRevision]; [WrongRevisionError] has the actual revision.
//     There is no "any".
//   - Crash: events of one append are in the log together or not at all, and durable when Append returns.
//   - Repeat: an append that is repeated with the same event ids and the same expected revision writes once and gives
//     the same answer each time.
//   - Outage: an append whose answer was lost fails with [ErrUnavailable], and its outcome is unknown: repeat the same
//     append until the outcome is known. The package itself repeats reads for some seconds.
//   - Order: a reader never sees a position before all smaller ones. A [Subscription] gives each event once and in
//     order; after a lost connection it goes on after the last event that it gave.
//   - Undecodable: an event that cannot be decoded is never skipped. Reads return the events before it together with a
//     [catalog.UndecodableError], and a subscription stops there.
//
// # Limits
//
// An append writes to one stream. To know a stream, a reader reads it from its start, so streams stay short (package
// bus closes a long one and goes on in the next). Nothing here changes or deletes an event. Many readers share one
// subscription through package feed.
//
// # Read on
//
// The rules: docs/rules/engine.md#exact-revision and docs/rules/engine.md#order. The protocol:
// docs/facts/eventstore.md#connecting. Why the node keeps its log in PostgreSQL: ADR 0001. Why appends share a call:
// ADR 0023. The node: package embedded.
package eventstore
