package bus

// Result is what an accepted command led to.
type Result struct {
	Stream   string
	Revision uint64 // of the stream's last event
	Position uint64 // commit position that a read must have reached to show it
	Changed  bool   // false: it was so already, or the command had acted before
}
