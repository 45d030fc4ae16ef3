package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCpe_AKillLosesNoDeviceAndNoClaim: devices are claimed while the program is killed, and go on where they were.
// Each claim is repeated until it is answered, and happens once.
func TestCpe_AKillLosesNoDeviceAndNoClaim(t *testing.T) {
	t.Parallel()
	k := newKit(t, "ACS_INTERNAL_KEY="+internalKey)
	program := k.spawn(freePort(t))
	k.signIn()
	const boxes, before = 16, 4
	ids := make([]string, boxes)
	for n := range boxes {
		k.calls(serialOf(n))
		ids[n] = k.pendingID(k.admin, serialOf(n))
	}
	var claimed atomic.Int32
	enough := make(chan struct{})
	var all sync.WaitGroup
	for crew := range 4 {
		all.Go(func() {
			for n := crew; n < boxes; n += 4 {
				k.claims(ids[n])
				if claimed.Add(1) == before {
					close(enough)
				}
			}
		})
	}
	<-enough
	program.kill9()
	k.spawn(program.addr)
	all.Wait()
	if rows := k.all(k.admin, "/cpe/devices"); len(rows) != boxes {
		t.Errorf("%d devices", len(rows))
	}
	k.published("cpe.claimed", boxes)
	for n := range boxes {
		if told := k.calls(serialOf(n)); !told.Known || len(told.Tags) != 1 {
			t.Errorf("device %d is told %v", n, told)
		}
	}
	k.eventually("all devices to be online", func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/cpe/dashboard", "", nil)
		return got.at("online") == fmt.Sprint(boxes) && got.at("total") == fmt.Sprint(boxes), err
	})
}

// serialOf is the serial number of one of the devices; none is the beginning of another.
func serialOf(n int) string { return fmt.Sprintf("SN-%02d", n) }

// claims claims a CPE until it is answered. That it is claimed already is the answer to who has asked before without
// one.
func (k *kit) claims(box string) {
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	lost := false
	err := until(ctx, "an answer to the claim of "+box, func(ctx context.Context) (bool, error) {
		_, err := k.admin.call(ctx, "POST", "/cpe/pending/"+box+"/claim", "", nil)
		switch no := asAPIError(err); {
		case no == nil || no.Status >= 500:
			lost = lost || err != nil
		case lost && no.Code == "already_claimed":
			return true, nil
		default:
			k.t.Errorf("claim of %s: %v", box, err)
			return true, nil
		}
		return err == nil, err
	})
	if err != nil {
		k.t.Error(err)
	}
}
