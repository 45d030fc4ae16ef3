package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// upload puts a file of firmware on the CPE server, for the usual devices of a data model.
func (k acsKit) upload(filename, class, version string) answer {
	k.t.Helper()
	return k.must(k.admin, "POST", "/cpe/firmware/upload", firmware(filename, class, version, "image of "+version))
}

// firmware is the body of an upload.
func firmware(filename, class, version, content string) map[string]any {
	return map[string]any{
		"filename": filename, "oui": "00d09e", "productClass": class, "version": version, "data": []byte(content),
	}
}

// boxes adds simulated devices, and claims them once their model is known. It gives their ids at the server and here.
func (k acsKit) boxes(configs ...acs.DeviceConfig) (devices, boxes []string) {
	k.t.Helper()
	for _, c := range configs {
		device, err := k.acs.AddDevice(c)
		if err != nil {
			k.t.Fatal(err)
		}
		box := k.pendingID(k.admin, c.Serial)
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		devices, boxes = append(devices, device), append(boxes, box)
	}
	for _, box := range boxes {
		k.eventually("the model of a device", func(ctx context.Context) (bool, error) {
			got, err := k.admin.call(ctx, "GET", "/cpe/devices/"+box, "", nil)
			return got.at("model") != "<nil>" && got.at("firmwareVersion") != "<nil>", err
		})
	}
	return devices, boxes
}

// numbers are those of a campaign: state, matched, succeeded, failed, pending and the number of skipped devices.
func numbers(campaign answer) string {
	return fmt.Sprintf("%s %s: %s + %s + %s, %d skipped", campaign.at("state"), campaign.at("matched"),
		campaign.at("succeeded"), campaign.at("failed"), campaign.at("pending"), len(campaign.list("skipped")))
}

// reads asks for something while time passes, and signs in again when that has ended the session.
func (k acsKit) reads(ctx context.Context, path string) (answer, error) {
	got, err := k.admin.call(ctx, "GET", path, "", nil)
	if no := asAPIError(err); no != nil && no.Status == 401 {
		k.signInAgain()
	}
	return got, err
}

// signInAgain is for a session that time has ended.
func (k acsKit) signInAgain() { k.admin, _ = k.login("acme", testAdminEmail, testPassword) }

// campaignIs waits until a campaign has numbers, while time passes.
func (k acsKit) campaignIs(campaign, want string) (got answer) {
	k.t.Helper()
	have := ""
	defer func() {
		if k.t.Failed() {
			k.t.Logf("the campaign is %s, want %s", have, want)
		}
	}()
	k.eventually("campaign "+want, func(ctx context.Context) (bool, error) {
		var err error
		got, err = k.reads(ctx, "/cpe/firmware/campaigns/"+campaign)
		if have = numbers(got); have != want {
			k.now.Advance(5 * time.Second)
		}
		return have == want, err
	})
	return got
}

// runs fails unless a device runs a version, and was flashed a number of times by operations that were confirmed.
func (k acsKit) runs(device, box, version string, times int) {
	k.t.Helper()
	for _, d := range k.acs.Devices() {
		if d.ID == device && d.Firmware != version {
			k.t.Errorf("device %s runs %s, want %s", device, d.Firmware, version)
		}
	}
	n := 0
	k.signInAgain()
	for _, o := range k.all(k.admin, "/cpe/devices/"+box+"/operations") {
		if o.text("kind") == "firmware" && o.text("state") == "confirmed" {
			n++
		}
	}
	if n != times {
		k.t.Errorf("device %s: %d downloads, want %d", device, n, times)
	}
}

// TestCpe_FilesOfFirmware are kept for each organization by itself, once under each name.
func TestCpe_FilesOfFirmware(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	rival := k.organization("rival", "ada@rival.test")
	first := k.upload("box-2.0.bin", "HomeBox-2", "2.0")
	if first.text("oui") != "00D09E" || first.at("size") != "12" || len(first.text("sha256")) != 64 {
		t.Errorf("uploaded %v", first)
	}
	if again := k.upload("box-2.0.bin", "HomeBox-2", "2.0"); again.text("id") != first.text("id") {
		t.Errorf("the same again is %v", again)
	}
	call := "POST /cpe/firmware/upload"
	k.refused(k.admin, call, firmware("box-2.0.bin", "HomeBox-2", "2.0", "other bytes"), 409, "cpe_firmware_exists")
	k.refused(k.admin, call, firmware("box-2.0.bin", "HomeBox-2", "2.1", "image of 2.0"), 409, "cpe_firmware_exists")
	for _, name := range []string{"", "../etc/passwd", "a/b", "a\nb", ".hidden", strings.Repeat("a", 101)} {
		k.refused(k.admin, call, firmware(name, "HomeBox-2", "2.0", "image"), 422, "invalid_input")
	}
	k.refused(k.admin, call, firmware("empty.bin", "HomeBox-2", "2.0", ""), 422, "invalid_input")
	k.refused(k.admin, call, firmware("box.bin", "HomeBox-2", "2.0\r\nx: y", "image"), 422, "invalid_input")
	broken := firmware("box.bin", "HomeBox-2", "2.0", "image")
	broken["data"] = "%%%"
	k.refused(k.admin, call, broken, 422, "invalid_input")
	k.must(rival, "POST", "/cpe/firmware/upload", firmware("box-2.0.bin", "HomeBox-2", "2.0", "of the rival"))
	for c, sum := range map[*apiClient]string{&k.admin: first.text("sha256"), &rival: ""} {
		rows := k.all(*c, "/cpe/firmware")
		if len(rows) != 1 || (rows[0].text("sha256") == first.text("sha256")) != (sum != "") {
			t.Errorf("%s has %v", c.host, rows)
		}
	}
	k.refused(rival, "POST /cpe/firmware/deploy", map[string]any{"filename": "other.bin", "model": "HomeBox 2"}, 404,
		"cpe_firmware_not_found")
	if served := k.served(t.Context(), "/files/"); strings.Count(served, "1 Firmware Upgrade Image") != 2 {
		t.Errorf("the server has %s", served)
	}
}

// TestCpe_FilesOfFirmwareAreSoMany: of many that come at once as many are stored as an organization may have, and no
// other one's count. One that is deleted makes room.
func TestCpe_FilesOfFirmwareAreSoMany(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	rival := k.organization("rival", "ada@rival.test")
	var all sync.WaitGroup
	codes := make([]string, 20)
	for n := range codes {
		all.Go(func() {
			_, err := k.admin.call(t.Context(), "POST", "/cpe/firmware/upload", "",
				firmware(fmt.Sprint("box-", n, ".bin"), "HomeBox-2", "2.0", "image"))
			if no := asAPIError(err); no != nil {
				codes[n] = no.Code
			} else if err != nil {
				codes[n] = err.Error()
			}
		})
	}
	all.Wait()
	slices.Sort(codes)
	want := append(make([]string, 16), slices.Repeat([]string{"cpe_firmware_limit_reached"}, 4)...)
	if !slices.Equal(codes, want) {
		t.Errorf("uploads end as %q", codes)
	}
	stored := func(ctx context.Context) int {
		return strings.Count(k.served(ctx, "/files/?projection=metadata"), "1 Firmware Upgrade Image")
	}
	rows := k.all(k.admin, "/cpe/firmware")
	if len(rows) != 16 || stored(t.Context()) != 16 {
		t.Fatalf("listed %d, the server has %d", len(rows), stored(t.Context()))
	}
	k.must(rival, "POST", "/cpe/firmware/upload", firmware("box.bin", "HomeBox-2", "2.0", "image"))
	k.must(k.admin, "DELETE", "/cpe/firmware/"+rows[3].text("id"), nil)
	k.eventually("the file to be gone", func(ctx context.Context) (bool, error) {
		k.now.Advance(10 * time.Second)
		return stored(ctx) == 16, nil
	})
	k.eventually("room for another one", func(ctx context.Context) (bool, error) {
		_, err := k.reads(ctx, "/cpe/firmware")
		return len(k.all(k.admin, "/cpe/firmware")) == 15, err
	})
	k.upload("another.bin", "HomeBox-2", "2.0")
	k.refused(k.admin, "POST /cpe/firmware/upload", firmware("one-more.bin", "HomeBox-2", "2.0", "image"), 409,
		"cpe_firmware_limit_reached")
}

// TestCpe_AFileOfFirmwareIsDeleted when no deployment needs it, and at a server whose answer is lost. Its name
// is free afterwards.
func TestCpe_AFileOfFirmwareIsDeleted(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	rival := k.organization("rival", "ada@rival.test")
	devices, _ := k.boxes(acs.DeviceConfig{Serial: "SN-1", Model: "Box"})
	file := k.upload("box-2.0.bin", "HomeBox-2", "2.0")
	if file.text("state") != "stored" {
		t.Errorf("uploaded %v", file)
	}
	at := "DELETE /cpe/firmware/" + file.text("id")
	if err := k.acs.SetPower(devices[0], false); err != nil { // it has called a moment ago
		t.Fatal(err)
	}
	deploy := map[string]any{"filename": "box-2.0.bin", "model": "Box"}
	campaign := k.must(k.admin, "POST", "/cpe/firmware/deploy", deploy).text("campaignId")
	k.refused(k.admin, at, nil, 409, "cpe_firmware_in_use")
	k.refused(rival, at, nil, 404, "cpe_firmware_not_found")
	k.must(k.admin, "POST", "/cpe/firmware/campaigns/"+campaign+"/halt", nil)
	k.campaignIs(campaign, "halted 1: 0 + 0 + 0, 1 skipped")
	k.signInAgain()
	k.acs.SetFaults(acs.Faults{LoseAnswers: 1})
	k.must(k.admin, "DELETE", "/cpe/firmware/"+file.text("id"), nil)
	k.refused(k.admin, at, nil, 404, "cpe_firmware_not_found")
	if rows := k.all(k.admin, "/cpe/firmware"); len(rows) != 1 || rows[0].text("state") != "removing" {
		t.Errorf("listed %v", rows)
	}
	k.refused(k.admin, "POST /cpe/firmware/deploy", deploy, 404, "cpe_firmware_not_found")
	k.refused(k.admin, "POST /cpe/firmware/upload", firmware("box-2.0.bin", "HomeBox-2", "2.0", "image of 2.0"), 409,
		"cpe_firmware_exists")
	k.eventually("the file to be gone", func(ctx context.Context) (bool, error) {
		k.now.Advance(10 * time.Second)
		_, err := k.reads(ctx, "/cpe/firmware")
		return !strings.Contains(k.served(ctx, "/files/?projection=_id"), "box-2.0.bin"), err
	})
	k.eventually("the list without it", func(context.Context) (bool, error) {
		return len(k.all(k.admin, "/cpe/firmware")) == 0, nil
	})
	k.must(k.admin, "POST", "/cpe/firmware/upload", firmware("box-2.0.bin", "HomeBox-2", "2.1", "other bytes"))
	k.audited("cpe.RemoveCpeFirmware")
}

// TestCpe_ALargeFileOfFirmware is larger than all other bodies may be.
func TestCpe_ALargeFileOfFirmware(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	large := firmware("large.bin", "HomeBox-2", "2.0", "")
	large["data"] = bytes.Repeat([]byte{0xff}, 4<<20)
	if got := k.must(k.admin, "POST", "/cpe/firmware/upload", large); got["size"] != float64(4<<20) {
		t.Errorf("uploaded %v", got)
	}
}

// TestCpe_FirmwareGoesToTheDevicesOfAModel of each data model: not to other hardware, nor to a device that has it, and
// to one without power when it comes back.
func TestCpe_FirmwareGoesToTheDevicesOfAModel(t *testing.T) {
	t.Parallel()
	for root, class := range map[string]string{"Device": "HomeBox-2", "InternetGatewayDevice": "HG8"} {
		t.Run(root, func(t *testing.T) {
			t.Parallel()
			k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
			box := func(serial string) acs.DeviceConfig {
				return acs.DeviceConfig{Serial: serial, Root: root, Model: "Box"}
			}
			other, has, far := box("SN-OTHER"), box("SN-HAS"), box("SN-FAR")
			other.ProductClass, has.Firmware, far.NAT = "Older", "2.0", true
			devices, boxes := k.boxes(box("SN-1"), box("SN-AWAY"), other, has, far)
			k.upload("box-2.0.bin", class, "2.0")
			if err := k.acs.SetPower(devices[1], false); err != nil {
				t.Fatal(err)
			}
			k.now.Advance(11 * time.Minute)
			k.signInAgain()
			for _, n := range []int{0, 4} {
				if err := k.acs.Inform(devices[n], "2 PERIODIC"); err != nil {
					t.Fatal(err)
				}
			}
			begun := k.must(k.admin, "POST", "/cpe/firmware/deploy", map[string]any{
				"filename": "box-2.0.bin", "model": "Box", "atOnce": 1,
			})
			if begun.at("matched") != "4" || len(begun.list("skipped")) != 2 {
				t.Errorf("deployed %v", begun)
			}
			campaign := begun.text("campaignId")
			k.campaignIs(campaign, "running 4: 2 + 0 + 1, 2 skipped")
			if err := k.acs.SetPower(devices[1], true); err != nil {
				t.Fatal(err)
			}
			k.campaignIs(campaign, "finished 4: 3 + 0 + 0, 2 skipped")
			for i, want := range []struct {
				version string
				times   int
			}{{"2.0", 1}, {"2.0", 1}, {"1.0.0", 0}, {"2.0", 0}, {"2.0", 1}} {
				k.runs(devices[i], boxes[i], want.version, want.times)
			}
			if rows := k.all(k.admin, "/cpe/firmware/campaigns/"+campaign+"/devices?state=succeeded"); len(rows) != 3 {
				t.Errorf("devices %v", rows)
			}
			if rows := k.all(k.admin, "/cpe/firmware/campaigns"); len(rows) != 1 {
				t.Errorf("campaigns %v", rows)
			}
		})
	}
}

// TestCpe_ADeploymentStopsWhenDevicesFail, goes on when a person says so, and is halted by one.
func TestCpe_ADeploymentStopsWhenDevicesFail(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	var configs []acs.DeviceConfig
	for n := range 8 {
		configs = append(configs, acs.DeviceConfig{Serial: serialOf(n), Model: "Box"})
	}
	devices, boxes := k.boxes(configs...)
	k.upload("box-2.0.bin", "HomeBox-2", "2.0")
	for i, device := range devices[:6] {
		fault := acs.DeviceFaults{KeepFirmware: true}
		if i%2 == 0 {
			fault = acs.DeviceFaults{TransferFault: "9018"}
		}
		if err := k.acs.SetDeviceFaults(device, fault); err != nil {
			t.Fatal(err)
		}
	}
	for _, device := range devices[6:] { // they have called a moment ago, and nothing reaches them
		if err := k.acs.SetPower(device, false); err != nil {
			t.Fatal(err)
		}
	}
	body := map[string]any{"filename": "box-2.0.bin", "model": "Box", "atOnce": 8}
	campaign := k.must(k.admin, "POST", "/cpe/firmware/deploy", body).text("campaignId")
	k.campaignIs(campaign, "stopped 8: 0 + 6 + 2, 0 skipped")
	again := k.must(k.admin, "POST", "/cpe/firmware/deploy", body)
	if again.at("matched") != "8" || len(again.list("skipped")) != 2 { // those that wait in the first one
		t.Errorf("again: %v", again)
	}
	second := again.text("campaignId")
	at := "/cpe/firmware/campaigns/"
	k.must(k.admin, "POST", at+second+"/halt", nil)
	if got := k.must(k.admin, "POST", at+campaign+"/continue", nil); got.at("state") != "running" {
		t.Errorf("continued: %v", got)
	}
	k.must(k.admin, "POST", "/cpe/devices/"+boxes[7]+"/release", nil)
	if err := k.acs.SetPower(devices[6], true); err != nil {
		t.Fatal(err)
	}
	k.campaignIs(campaign, "finished 8: 1 + 6 + 0, 1 skipped")
	k.refused(k.admin, "POST "+at+campaign+"/halt", nil, 409, "cpe_campaign_over")
	k.refused(k.admin, "POST "+at+second+"/continue", nil, 409, "cpe_campaign_over")
	rival := k.organization("rival", "ada@rival.test")
	k.refused(rival, "GET "+at+campaign, nil, 404, "cpe_campaign_not_found")
	k.refused(rival, "POST "+at+campaign+"/halt", nil, 404, "cpe_campaign_not_found")
	k.runs(devices[6], boxes[6], "2.0", 1)
}

// TestCpe_AFailedDownloadIsNotDoneAgainByTheServer, which would do so by itself for as long as it has the fault: also
// when nobody knows the task, whose answer was lost.
func TestCpe_AFailedDownloadIsNotDoneAgainByTheServer(t *testing.T) {
	t.Parallel()
	for _, lost := range []int{0, 1} {
		k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
		devices, boxes := k.boxes(acs.DeviceConfig{Serial: "SN-1", Model: "Box"})
		k.upload("box-2.0.bin", "HomeBox-2", "2.0")
		k.faulty(devices[0], acs.DeviceFaults{TransferFault: "9010"})
		k.tagged(devices[0], "org:acme") // nothing else writes then
		k.acs.SetFaults(acs.Faults{LoseAnswers: lost})
		campaign := k.must(k.admin, "POST", "/cpe/firmware/deploy", map[string]any{
			"filename": "box-2.0.bin", "model": "Box",
		}).text("campaignId")
		k.eventually("the fault", func(ctx context.Context) (bool, error) {
			err := k.acs.Inform(devices[0], "2 PERIODIC") // a connection request is not made when the answer was lost
			return strings.Contains(k.served(ctx, "/faults/?projection=code"), "9010"), err
		})
		k.campaignIs(campaign, "finished 1: 0 + 1 + 0, 0 skipped")
		k.faulty(devices[0], acs.DeviceFaults{})
		k.later(2 * time.Hour)
		k.informs(devices[0])
		if left := k.served(t.Context(), "/faults/?projection=_id"); strings.Contains(left, devices[0]) {
			t.Errorf("%d lost: the server has %s", lost, left)
		}
		k.runs(devices[0], boxes[0], "1.0.0", 0)
	}
}

// TestCpe_ADeploymentKeepsItsHours: nothing begins before them.
func TestCpe_ADeploymentKeepsItsHours(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	devices, boxes := k.boxes(acs.DeviceConfig{Serial: "SN-1", Model: "Box"})
	k.upload("box-2.0.bin", "HomeBox-2", "2.0")
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	opens := k.now.Now().In(zone).Add(2 * time.Hour).Truncate(time.Minute)
	begun := k.must(k.admin, "POST", "/cpe/firmware/deploy", map[string]any{
		"filename": "box-2.0.bin", "model": "Box",
		"hours": map[string]any{"from": opens.Format("15:04"), "to": opens.Add(3 * time.Hour).Format("15:04")},
	})
	campaign := begun.text("campaignId")
	k.now.Advance(opens.Sub(k.now.Now()) - time.Minute)
	k.eventually("the device to call again", func(ctx context.Context) (bool, error) {
		got, err := k.reads(ctx, "/cpe/devices/"+boxes[0])
		return got.at("online") == "true", errors.Join(err, k.acs.Inform(devices[0], "2 PERIODIC"), k.acs.Idle(ctx))
	})
	k.runs(devices[0], boxes[0], "1.0.0", 0)
	k.campaignIs(campaign, "finished 1: 1 + 0 + 0, 0 skipped")
	if k.now.Now().Before(opens) {
		t.Error("it began before its hours")
	}
	k.signInAgain()
	for _, bad := range []map[string]any{
		{"hours": map[string]any{"from": "25:00", "to": "01:00"}},
		{"hours": map[string]any{"from": "01:00", "to": "01:00"}},
		{"atOnce": 101}, {"deadline": "2020-01-01T00:00:00Z"}, {"deadline": "2099-01-01T00:00:00Z"}, {"model": ""},
	} {
		body := map[string]any{"filename": "box-2.0.bin", "model": "Box"}
		for name, value := range bad {
			body[name] = value
		}
		k.refused(k.admin, "POST /cpe/firmware/deploy", body, 422, "invalid_input")
	}
}

// TestCpe_AHaltTakesBackWhatWaits: the device is not told any more.
func TestCpe_AHaltTakesBackWhatWaits(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	devices, boxes := k.boxes(acs.DeviceConfig{Serial: "SN-1", Model: "Box"})
	k.upload("box-2.0.bin", "HomeBox-2", "2.0")
	if err := k.acs.SetPower(devices[0], false); err != nil { // it has called a moment ago
		t.Fatal(err)
	}
	campaign := k.must(k.admin, "POST", "/cpe/firmware/deploy", map[string]any{
		"filename": "box-2.0.bin", "model": "Box",
	}).text("campaignId")
	waits := func(ctx context.Context) bool {
		return strings.Contains(k.served(ctx, "/tasks/?projection=name"), "download")
	}
	k.eventually("the task at the server", func(ctx context.Context) (bool, error) { return waits(ctx), nil })
	k.must(k.admin, "POST", "/cpe/firmware/campaigns/"+campaign+"/halt", nil)
	k.campaignIs(campaign, "halted 1: 0 + 0 + 0, 1 skipped")
	if waits(t.Context()) {
		t.Error("the task waits all the same")
	}
	k.runs(devices[0], boxes[0], "1.0.0", 0)
}
