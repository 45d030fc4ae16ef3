package radius

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Bounds of what is remembered between two reports. What exceeds them is only counted.
const (
	maxStrangers   = 256  // unknown addresses
	maxNotices     = 8192 // an organization has its share, and routers that are not known have one
	maxNames       = 32   // user names of one notice
	maxLines       = 20   // log lines of one report
	reportInterval = 10 * time.Second
)

// Notice tells support staff about packets of one kind from one address that were dropped or doubtful.
type Notice struct {
	Result Result // UnknownNAS, WrongSecret, Unproven, Malformed, OverLimit, SecretDoubtful, TooMuchPending, …
	Source netip.Addr
	NAS    *NAS // nil when it is not known which
	Count  int
	First  time.Time
	Last   time.Time
	// Names counts the user names of sign-ins among the packets, as far as there is room. Nothing proves them: anybody
	// can send them. They are personal, so no log has them.
	Names map[string]int
}

// noticeKey tells notices apart.
type noticeKey struct {
	result Result
	source netip.Addr
	nas    *NAS
}

// notices adds packets up until the next report, so that a flood is one line. Safe for concurrent use.
type notices struct {
	logger *slog.Logger
	hook   func([]Notice)

	mu        sync.Mutex
	list      map[noticeKey]*Notice
	room      fair.Room // of the list
	strangers int
	more      int
}

// newNotices makes an empty collection.
func newNotices(logger *slog.Logger, hook func([]Notice)) *notices {
	n := &notices{logger: logger, hook: hook}
	n.empty()
	return n
}

// empty begins a collection without notices. The caller holds the lock.
func (n *notices) empty() {
	n.list, n.room, n.strangers, n.more = map[noticeKey]*Notice{}, fair.Room{Capacity: maxNotices}, 0, 0
}

// add counts one packet. name is the user name of a sign-in, empty for other packets.
func (n *notices) add(k noticeKey, at time.Time, name []byte) { n.first(k, at, name) }

// first counts one packet and reports whether it is the first of its kind since the last report.
func (n *notices) first(k noticeKey, at time.Time, name []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if found := n.list[k]; found != nil {
		found.Count++
		found.Last = at
		found.named(name)
		return false
	}
	var org id.Organization
	if k.nas != nil {
		org = k.nas.Org
	}
	stranger := k.result == UnknownNAS
	if stranger && n.strangers >= maxStrangers || !n.room.Take(org, 1) {
		n.more++
		return false
	}
	if stranger {
		n.strangers++
	}
	n.list[k] = &Notice{Result: k.result, Source: k.source, NAS: k.nas, Count: 1, First: at, Last: at}
	n.list[k].named(name)
	return true
}

// named counts the user name of one packet.
func (n *Notice) named(name []byte) {
	if len(name) == 0 {
		return
	}
	if _, known := n.Names[string(name)]; !known && len(n.Names) >= maxNames {
		return
	}
	if n.Names == nil {
		n.Names = map[string]int{}
	}
	n.Names[string(name)]++
}

// report logs what was added since the last report and gives it to the hook.
func (n *notices) report(ctx context.Context) {
	n.mu.Lock()
	list, more := n.list, n.more
	n.empty()
	n.mu.Unlock()
	if len(list) == 0 {
		return
	}
	all, lines := make([]Notice, 0, len(list)), 0
	for _, notice := range list {
		all = append(all, *notice)
		if lines++; lines > maxLines {
			more += notice.Count
			continue
		}
		attributes := []any{"result", notice.Result.String(), "source", notice.Source, "packets", notice.Count}
		if notice.NAS != nil {
			attributes = append(attributes, "nas", notice.NAS)
		}
		n.logger.WarnContext(ctx, "radius packets in doubt", attributes...)
	}
	if more > 0 {
		n.logger.WarnContext(ctx, "more radius packets in doubt", "packets", more)
	}
	if n.hook != nil {
		n.hook(all)
	}
}
