package subscribers

// Compacted gives tests the state that keeps fewer periods than a closing stream does.
func Compacted(s Subscription, keep int) Subscription { return s.compacted(keep) }
