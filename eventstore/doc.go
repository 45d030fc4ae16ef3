// Package eventstore is the log: appends with an exact expected revision, reads in pages, and subscriptions that
// survive a lost connection. It is the only user of the EventStoreDB client, and the same code talks to the embedded
// node and to a cluster. Business code does not come here: it executes commands (package bus) and reads read models.
//
// # Words
//
// A stream is named "<category>-<uuid>" and holds the events of one aggregate; an event's revision is its number in
// there, from 0. All events stand in one log, $all; the position there is the only order that exists. Positions grow,
// with gaps. An event is encoded and decoded by the codec (package catalog), which knows its types and seals personal
// fields.
//
// # Use
//
//	store, err := eventstore.Open(ctx, eventstore.Config{URL: node.URL(), Codec: catalog.New(keys)})
//	defer store.Close()
//	done, err := store.Append(ctx, stream, eventstore.NoStream, []eventstore.New{{Event: e, Meta: meta}})
//	list, err := store.Read(ctx, stream, 0)
//	sub := store.Subscribe(ctx, after, types)
//	item, err := sub.Next(ctx)
//
// Open checks the address only; [Store.Ping] asks whether somebody answers. Connections are made, lost and made again
// behind the calls.
//
// # Guarantees
//
//   - Race: [Store.Append] names the revision that its writer has read, or [NoStream]. When the stream is elsewhere it
//     writes nothing and fails with [ErrWrongRevision]; [WrongRevisionError] says where the stream is. There is no
//     "any".
//   - Crash: events of one append are in the log together or not at all, and durable when Append returns.
//   - Repeat: an append repeated with the same event ids and the same expected revision is done once and gives the same
//     answer.
//   - Outage: an append whose answer was lost fails with [ErrUnavailable], and its outcome is unknown: repeat the same
//     append until it is known. Reads are repeated here for some seconds.
//   - Order: a reader never sees a position before all smaller ones. A [Subscription] gives each event once and in
//     order; after a lost connection it goes on behind the last one that it gave.
//   - An event that cannot be decoded is never skipped: reads give what comes before it with a
//     [catalog.UndecodableError], and a subscription stops there.
//
// # Limits
//
// An append is one stream. A stream is read forward from a revision, so streams stay short (package bus closes them
// into periods). Nothing here changes or deletes an event. Many readers share one subscription through package feed.
//
// # Read on
//
// The rules: docs/rules/engine.md#exact-revision and docs/rules/engine.md#order. What the protocol does:
// docs/facts/eventstore.md#connecting. Why the node stands on PostgreSQL: ADR 0001. The node itself: package embedded.
package eventstore
