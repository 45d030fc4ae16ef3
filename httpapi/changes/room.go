package changesapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/changes"
)

const (
	mostNamed   = 20 // changes of a topic in one batch that are told one by one; more are told as one without an id
	keptBatches = 16 // for readers that are slow
)

// Change is the data of one server-sent event.
type Change struct {
	Topic changesviews.Topic `json:"topic" doc:"a resource's word in the paths; reset: read everything again"`
	ID    id.Any             `json:"id,omitzero" doc:"absent: several changed, or the topic has one thing alone"`
	// SubscriberID lets a customer's page pass over what is not its own.
	SubscriberID id.Subscriber `json:"subscriberId,omitzero" doc:"whose it is; absent: nobody's, or not known"`
	Type         string        `json:"type,omitempty" doc:"the event, such as billing.InvoicePaid; absent: several"`
	At           time.Time     `json:"at"`
}

// batch has the changes of a short time.
type batch struct {
	changes  []changesviews.Change
	position uint64 // of the log, up to which everything was told with this batch
	// text has the batch for the wire, by role; a role that nobody had yet is missing.
	text map[events.Role]written
}

// written is a part of a stream for the wire.
type written struct {
	text     []byte
	messages int
}

// room has what is told to those who read one organization, or the root host. The lock of its hub guards it.
type room struct {
	organization bool // no root host
	readers      int
	batches      []batch // the newest, at most keptBatches
	first        uint64  // the number of the first one
	changed      chan struct{}
	gathered     gathered
}

// newRoom makes an empty room; a zero organization is the root host.
func newRoom(org id.Organization) *room {
	return &room{organization: !org.IsZero(), changed: make(chan struct{})}
}

// gathered are changes that are not in a batch yet.
type gathered struct {
	list   []changesviews.Change
	counts map[changesviews.Topic]int
	newest map[changesviews.Topic]time.Time // of the topics with too many changes
}

// add notes a change. Of a topic with many changes the number alone is kept.
func (g *gathered) add(c changesviews.Change) {
	if g.counts == nil {
		g.counts, g.newest = map[changesviews.Topic]int{}, map[changesviews.Topic]time.Time{}
	}
	if g.counts[c.Topic]++; g.counts[c.Topic] <= mostNamed {
		g.list = append(g.list, c)
		return
	}
	if c.At.After(g.newest[c.Topic]) {
		g.newest[c.Topic] = c.At
	}
}

// told gives the changes as they are told: those of a topic with too many are one, without an id.
func (g *gathered) told() (list []changesviews.Change) {
	said := map[changesviews.Topic]bool{}
	for _, c := range g.list {
		if g.counts[c.Topic] > mostNamed {
			if said[c.Topic] {
				continue
			}
			said[c.Topic] = true
			c = changesviews.Change{OrgID: c.OrgID, Topic: c.Topic, At: g.newest[c.Topic]}
		}
		list = append(list, c)
	}
	return list
}

// add notes a change for the next batch.
func (r *room) add(c changesviews.Change) { r.gathered.add(c) }

// reset has the readers told to read everything again.
func (r *room) reset(now time.Time) {
	r.gathered.add(changesviews.Change{Topic: changesviews.Reset, At: now})
}

// next is the number of the next batch.
func (r *room) next() uint64 { return r.first + uint64(len(r.batches)) }

// stir wakes the readers.
func (r *room) stir() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// publish makes a batch of what was gathered, if anything was.
func (r *room) publish(position uint64) {
	list := r.gathered.told()
	if len(list) == 0 {
		return
	}
	r.gathered = gathered{}
	if len(r.batches) == keptBatches {
		r.batches, r.first = r.batches[1:], r.first+1
	}
	r.batches = append(r.batches, batch{changes: list, position: position, text: map[events.Role]written{}})
	r.stir()
}

// since gives what a role hears of the batches from a number on. missed says that some of them are not kept any more.
func (r *room) since(number uint64, role events.Role) (text []byte, messages int, missed bool) {
	if number < r.first {
		return nil, 0, true
	}
	fresh := r.batches[number-r.first:]
	for i := range fresh {
		part, known := fresh[i].text[role]
		if !known {
			part = write(fresh[i].changes, fresh[i].position, role, r.organization)
			fresh[i].text[role] = part
		}
		if messages += part.messages; len(fresh) == 1 {
			return part.text, messages, false // shared by all readers of the role
		}
		text = append(text, part.text...)
	}
	return text, messages, false
}

// write puts into the form of server-sent events what a role hears of some changes. The last event has the position
// from which to go on, because the changes before it are lost with it.
func write(list []changesviews.Change, position uint64, role events.Role, organization bool) (out written) {
	var text bytes.Buffer
	for _, c := range list {
		if !c.Topic.Hears(role, organization) {
			continue
		}
		data, err := json.Marshal(Change{c.Topic, c.ID, c.SubscriberID, c.Type, c.At})
		if err != nil {
			continue // texts, ids and an instant always marshal
		}
		if out.messages > 0 {
			text.WriteByte('\n')
		}
		text.WriteString("data: ")
		text.Write(data)
		text.WriteByte('\n')
		out.messages++
	}
	if out.messages > 0 {
		text.WriteString(positionLine(position))
	}
	out.text = text.Bytes()
	return out
}

// positionLine ends an event, and tells from where to go on.
func positionLine(position uint64) string { return "id: " + strconv.FormatUint(position, 10) + "\n\n" }

// resetText asks to read everything again.
func resetText(position uint64, now time.Time) []byte {
	return write([]changesviews.Change{{Topic: changesviews.Reset, At: now}}, position, "", true).text
}
