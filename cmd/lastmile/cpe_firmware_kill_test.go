package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestCpe_AKillFlashesNoDeviceTwice: the program is killed while devices load, and goes on. Of a device that it may
// have told, or not, its version tells.
func TestCpe_AKillFlashesNoDeviceTwice(t *testing.T) {
	t.Parallel()
	sim, now := newACS(t)
	k := acsKit{acs: sim, now: now, kit: newKit(t, "ACS_INTERNAL_KEY="+internalKey, "ACS_NBI_URL="+sim.URL(),
		"CPE_SYNC_INTERVAL=1s", "DEV_CLOCK=true")}
	program := k.spawn(freePort(t))
	k.signIn()
	sim.SetIdentify(acs.Identify{URL: "http://" + k.addr + "/internal/cpe/identify", Key: internalKey})
	var configs []acs.DeviceConfig
	for n := range 6 {
		configs = append(configs, acs.DeviceConfig{Serial: serialOf(n), Model: "Box"})
	}
	_, boxes := k.boxes(configs...)
	k.upload("box-2.0.bin", "HomeBox-2", "2.0")
	campaign := k.must(k.admin, "POST", "/cpe/firmware/deploy", map[string]any{
		"filename": "box-2.0.bin", "model": "Box", "atOnce": 6,
	}).text("campaignId")
	k.eventually("the first task", func(context.Context) (bool, error) { return len(k.told()) > 0, nil })
	program.kill9()
	k.spawn(program.addr)
	k.eventually("each device to be told, or looked for", func(context.Context) (bool, error) {
		sent, confirmed := 0, 0
		for _, box := range boxes {
			for _, o := range k.all(k.admin, "/cpe/devices/"+box+"/operations") {
				if o.text("kind") == "firmware" && o.at("sentAt") != "<nil>" {
					sent++
				}
				if o.text("kind") == "firmware" && o.text("state") == "confirmed" {
					confirmed++
				}
			}
		}
		return sent == len(boxes) && confirmed == len(k.told()), nil
	})
	now.Advance(3 * time.Hour)
	k.advance(map[string]any{"advance": "3h"})
	told := k.told()
	want := fmt.Sprintf("finished 6: %d + %d + 0, 0 skipped", len(told), 6-len(told))
	k.eventually(want, func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/cpe/firmware/campaigns/"+campaign, "", nil)
		return numbers(got) == want, err
	})
	for device, n := range told {
		if n != 1 {
			t.Errorf("device %s was told %d times", device, n)
		}
	}
}

// told counts the tasks that each device was given.
func (k acsKit) told() map[string]int {
	n := map[string]int{}
	for _, line := range k.acs.Requests() {
		path, is := strings.CutPrefix(line, "POST /devices/")
		device, tasks, _ := strings.Cut(path, "/")
		if is && tasks == "tasks" {
			device, err := url.PathUnescape(device)
			if err != nil {
				k.t.Error(err)
			}
			n[device]++
		}
	}
	return n
}
