package telemetry

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Turn says that a session began, or went on after it had been taken for ended, or ended. Without a session, several of
// the organization did.
type Turn struct {
	OrgID        id.Organization
	SessionID    SessionID
	SubscriberID id.Subscriber // zero = not known
	Ended        bool
	At           time.Time // the beginning or the end; zero = now
}

// Watch has each change of which sessions are open told, as soon as it can be read. told returns at once, because
// commits wait for it. Watch comes before everything that writes.
func (s *Store) Watch(told func([]Turn)) { s.told = told }

// turn gives what a commit has changed about whether a session is open; false when it changed nothing of that.
func (s *Session) turn() (Turn, bool) {
	ended := s.EndedAt != nil
	if s.stored != nil && ended != s.kept.ended.IsZero() {
		return Turn{}, false
	}
	t := Turn{OrgID: s.OrgID, SessionID: s.ID, SubscriberID: s.SubscriberID, Ended: ended, At: s.StartedAt}
	if ended {
		t.At = *s.EndedAt
	}
	return t, true
}

// tellTurns tells what a commit has changed about some sessions, and that others of some organizations ended, which may
// be named several times.
func (s *Store) tellTurns(sessions []*Session, ended []id.Organization) {
	if s.told == nil {
		return
	}
	var list []Turn
	for _, session := range sessions {
		if t, ok := session.turn(); ok {
			list = append(list, t)
		}
	}
	said := map[id.Organization]bool{}
	for _, org := range ended {
		if !said[org] {
			said[org] = true
			list = append(list, Turn{OrgID: org, Ended: true})
		}
	}
	if len(list) > 0 {
		s.told(list)
	}
}
