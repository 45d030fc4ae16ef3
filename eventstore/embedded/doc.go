// Package embedded is a durable event store node that speaks the EventStoreDB gRPC protocol, so that the stock client
// cannot tell it from the real server. Its log is one PostgreSQL table.
//
// The path of an append: rpc_append.go or rpc_batch_append.go reads the request, write.go hands it to the sequencer
// (sequencer.go), which collects whatever else is waiting, decides all of it against the stream heads (decide.go,
// group.go, heads.go), commits the group with one statement (commit.go), publishes it in order to the tail in memory
// (tail.go) and only then answers.
//
// Why an acknowledged append is never lost: the answer follows the commit, the commit runs with synchronous_commit on,
// and a commit whose outcome is unknown is settled by reading the log again before anything else is written
// (recovery.go). Why there is one writer: the session that commits is the session that holds the advisory lock
// (session.go), and each commit checks the epoch row as well.
//
// Readers read PostgreSQL in pages (pages.go); subscriptions that are at the end are fed from the tail and fall back to
// pages when they are too slow for it, so no reader ever makes a writer wait.
package embedded
