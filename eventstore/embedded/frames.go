package embedded

import "slices"

// Bounds of what a client sends that the transport keeps without counting it.
const (
	frameOverhead = 64        // bytes that are counted for a small frame beside its own ones
	smallBytesOwn = 256 << 10 // the weight of small frames of a call that are not taken, and of the bytes...
	smallPart     = 8         // ...that are there of a message that has not arrived one part in so many
	smallFrames   = 48 << 20  // the weight of those of all calls
	runBytes      = 4 << 10   // small frames that come in so many bytes are counted as one
	signalsAsked  = 64        // frames that widen windows, after which the transport is asked to confirm them
	settingsBytes = 6 * 32    // of settings of a client in one frame, six bytes each; there are fewer than ten
	settingsSent  = 1000      // frames of settings of one client
	unansweredOwn = 1024      // calls of one connection that have not ended on the wire
	unanswered    = 8192      // and of all
)

// Reasons for which a client is dismissed.
const (
	tooSmallFrames  = "a call has sent too many small frames that the node has not taken"
	mostSmallBytes  = "too many small frames have come that the node has not taken, most of them from this client"
	tooManyCalls    = "too many calls have been begun whose answers are not taken"
	callsOutOfOrder = "a call has a number that is not higher than those before it"
	tooManySettings = "too many settings have been sent"
)

// run is a run of small frames of a stream, by the number of bytes of messages that have come on it.
type run struct {
	from, to int64
	weight   int
}

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

// due reports whether the transport is to be asked before it reads more.
func (c *connection) due() bool { return c.reset || c.signals >= signalsAsked }

// ask has the transport confirm settings that change nothing, before it reads what the client has sent next. It keeps
// each frame that widens a window or ends a call, and the answer to the call, until its writer has seen it, however
// many they are; but when too many confirmations wait for the writer, because the client does not read, it reads
// nothing more.
func (c *connection) ask() {
	c.asking = make([]byte, headerBytes)
	c.asking[3] = frameSettings
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.closed:
		c.asked = append(c.asked, c.reset)
	case c.reset:
		c.over()
	}
	c.signals, c.reset = 0, false
}

// confirms reports whether a frame of the transport is the answer to a question. One that the client has asked comes
// later then.
func (c *connection) confirms(head frameHead) bool {
	if head[3] != frameSettings || head[4]&flagAck == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.confirmed()
}

// confirmed ends the call of the oldest question; false = there is no question. Call with mu held.
func (c *connection) confirmed() bool {
	if len(c.asked) == 0 {
		return false
	}
	if c.asked[0] {
		c.over()
	}
	c.asked = slices.Delete(c.asked, 0, 1)
	return true
}

// arrived is how many bytes are there of a message that has not arrived.
func (a *arrival) arrived() int {
	if a.left == 0 {
		return 0
	}
	return messageLength(a.prefix) - a.left
}

// count counts the present frame, which is small. The transport keeps such frames without asking the intake for memory.
// A client with many small messages fills its window with them; of a large one it sends what its windows leave over.
func (c *connection) count(a *arrival) {
	weight := c.data + frameOverhead
	last := len(a.runs) - 1
	if last < 0 || a.came-a.runs[last].from > runBytes {
		a.runs = append(a.runs, run{from: a.came - int64(c.data)})
		last++
	}
	a.runs[last].to = a.came
	a.runs[last].weight += weight
	a.small += weight
	c.small.Add(int64(weight))
	if c.intake.small.Add(int64(weight)) > smallFrames {
		c.crowds = true
	}
	if a.small > smallBytesOwn+a.arrived()/smallPart {
		c.fault = tooSmallFrames
	}
}

// widen notes that the server widens the window of a stream, and forgets the small frames that it has taken then. It
// widens it by what it has read, and by padding as that comes; or, when it has read the beginning of a message that
// does not fit, by its length, and not again by what it reads of it. The frames of a message are kept until it is there
// in full. Call with mu held.
func (c *connection) widen(a *arrival, by int) {
	a.widened += int64(by)
	taken := a.widened - a.padding
	if a.left > 0 || a.have > 0 {
		taken = min(taken, a.began)
	}
	n := 0
	for n < len(a.runs) && a.runs[n].to <= taken {
		n++
	}
	c.discount(a, n)
}

// discount forgets the first runs of small frames of a stream. Call with mu held.
func (c *connection) discount(a *arrival, runs int) {
	weight := 0
	for _, r := range a.runs[:runs] {
		weight += r.weight
	}
	if weight > 0 {
		a.runs = slices.Delete(a.runs, 0, runs)
		a.small -= weight
		c.small.Add(-int64(weight))
		c.intake.small.Add(-int64(weight))
	}
}

// thin closes the connections that have most small frames, or most calls that wait for their client alone, until there
// are not too many in all.
func (in *intake) thin() {
	in.thinning.Lock()
	defer in.thinning.Unlock()
	for in.small.Load() > smallFrames {
		if !in.dismiss(func(c *connection) int64 { return c.small.Load() }, mostSmallBytes) {
			break
		}
	}
	for in.calls.Load() > unanswered {
		if !in.dismiss(func(c *connection) int64 { return c.calls.Load() - c.running.Load() }, tooManyCalls) {
			break
		}
	}
}

// dismiss closes the connection that has most of something, and tells its client why.
func (in *intake) dismiss(of func(*connection) int64, reason string) bool {
	c := in.most(of)
	if c == nil || of(c) <= 0 {
		return false
	}
	c.dismiss(reason)
	return true
}
