package bus

import "github.com/lastmile-isp/lastmile/events"

// Result describes the outcome of an accepted command.
type Result struct {
	Stream   string
	Revision uint64 // of the stream's last event
	Position uint64 // commit position that a read model must reach to show the events
	Changed  bool   // false: the state was already as asked, or the command acted before
	// Events are those that were decided just now; none when nothing changed.
	Events []events.Event
}
