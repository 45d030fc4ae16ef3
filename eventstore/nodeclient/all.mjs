// The Node client against the event store node: every call of the protocol that the node serves. The Go test
// TestEventStore_TheNodeClientIsServed starts the nodes and names them in the environment (kit.mjs).
import './append.mjs'
import './large.mjs'
import './read.mjs'
import './streams.mjs'
import './subscribe.mjs'
import './filter.mjs'
import './access.mjs'
import './restart.mjs' // the last one: it restarts the node
