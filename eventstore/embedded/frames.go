package embedded

// Bounds of what a client sends that the transport keeps without counting it.
const (
	frameOverhead = 64       // bytes that are counted for a small frame beside its own ones
	smallBytesOwn = 32 << 10 // the weight of small frames of a message that has not arrived, and of the bytes of it...
	smallPart     = 8        // ...that are there one part in so many
	smallFrames   = 16 << 20 // the weight of those of all messages
	unansweredOwn = 1024     // calls of one connection that have not ended on the wire
	unanswered    = 8192     // and of all
)

// Reasons for which a client is dismissed.
const (
	tooSmallFrames = "a message has come in too many small frames"
	mostSmallBytes = "too many messages come in small frames, most of them from this client"
	tooManyCalls   = "too many calls have been begun whose answers are not taken"
)

// call notes a call that the client has begun. ended = it has sent everything.
func (c *connection) call(ended bool) {
	c.streams[c.newest] = &arrival{over: ended}
	if !ended {
		c.sending.Add(1)
	}
	if c.calls.Add(1) > unansweredOwn {
		c.fault = tooManyCalls
	}
	if c.intake.calls.Add(1) > unanswered {
		c.crowds = true
	}
}

// unfinished reports whether a message has begun and is not there in full.
func (a *arrival) unfinished() bool { return a.left > 0 || a.have > 0 }

// arrived is how many bytes of the message are there.
func (a *arrival) arrived() int {
	if a.have > 0 {
		return 0
	}
	return messageLength(a.prefix) - a.left
}

// count counts the present frame, which is small and does not end its message. The transport keeps such frames without
// asking the intake for memory. Of a large message a client sends few: what its windows leave over. A message that ends
// with one frame, as a small one does, is not counted at all.
func (c *connection) count(a *arrival) {
	weight := c.data + frameOverhead
	a.small += weight
	c.small.Add(int64(weight))
	if c.intake.small.Add(int64(weight)) > smallFrames {
		c.crowds = true
	}
	if a.small > smallBytesOwn+a.arrived()/smallPart {
		c.fault = tooSmallFrames
	}
}

// discount forgets the small frames of a message that is there or does not come any more. Call with mu held.
func (c *connection) discount(a *arrival) {
	if a.small > 0 {
		c.small.Add(-int64(a.small))
		c.intake.small.Add(-int64(a.small))
		a.small = 0
	}
}

// thin closes the connections that have most small frames, or most calls without an answer, until there are not too
// many in all.
func (in *intake) thin() {
	in.thinning.Lock()
	defer in.thinning.Unlock()
	for in.small.Load() > smallFrames {
		if !in.dismiss(func(c *connection) int64 { return c.small.Load() }, mostSmallBytes) {
			break
		}
	}
	for in.calls.Load() > unanswered {
		if !in.dismiss(func(c *connection) int64 { return c.calls.Load() }, tooManyCalls) {
			break
		}
	}
}

// dismiss closes the connection that has most of something, and tells its client why.
func (in *intake) dismiss(of func(*connection) int64, reason string) bool {
	c := in.most(of)
	if c == nil || of(c) == 0 {
		return false
	}
	c.dismiss(reason)
	return true
}
