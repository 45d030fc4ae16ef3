// Package embedded is a durable event store node that speaks the EventStoreDB gRPC protocol, so that the stock client
// works with it as with the real server. Its log is one PostgreSQL table, beside one with the names of the streams.
//
// The path of an append: rpc_append.go or rpc_batch_append.go reads the request, and write.go hands it to the sequencer
// (sequencer.go). The sequencer collects the writes that wait, decides all of them against the stream heads (decide.go,
// group.go, heads.go), commits the group with one statement (commit.go), publishes it in order to the tail in memory
// (tail.go) and only then answers. While one group is committed it decides the next one, as if the first were in the
// log already; what was decided so is never sent or answered before that is true.
//
// An acknowledged append is never lost: the answer follows the commit, the commit runs with synchronous_commit on, and
// after a commit with an unknown outcome the node reads the log again before it writes anything else (recovery.go).
// There is only one writer: the session that commits is the session that holds the advisory lock (session.go), and each
// commit also checks the epoch row.
//
// Readers read PostgreSQL in pages (pages.go, walk.go). Live subscriptions read from the tail, and from pages again
// when they have fallen behind the tail, so a reader never makes a writer wait.
//
// Events that no reader of their streams can see any more are removed now and then (scavenge.go).
//
// Memory is bounded in bytes: of appends from their first message to their answer (load.go), of the large pages of all
// readers (walk.go), of the tail, and of what one subscriber takes from it at a time.
package embedded
