package handset

// Waits is the number of entries of the agenda, for tests that move the clock when all is waiting for it.
func (n *NAS) Waits() int {
	n.agenda.mu.Lock()
	defer n.agenda.mu.Unlock()
	return len(n.agenda.entries)
}
