package acs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

func TestNBI_PathsAndMethodsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	for _, c := range []struct {
		method, path string
		status       int
		allow, body  string
	}{
		{"GET", "/provisions/x", 405, "PUT, DELETE", "405 Method Not Allowed"},
		{"GET", "/presets/x", 405, "PUT, DELETE", "405 Method Not Allowed"},
		{"POST", "/objects/x", 405, "PUT, DELETE", "405 Method Not Allowed"},
		{"GET", "/virtual_parameters/x/", 405, "PUT, DELETE", "405 Method Not Allowed"},
		{"GET", "/files/a.bin", 405, "PUT, DELETE", "405 Method Not Allowed"},
		{"GET", "/devices/a-b", 405, "DELETE", "405 Method Not Allowed"},
		{"GET", "/devices/a-b/tasks", 405, "POST", "405 Method Not Allowed"},
		{"PUT", "/devices/a-b/tags/x", 405, "POST, DELETE", "405 Method Not Allowed"},
		{"GET", "/faults/a-b:default", 405, "DELETE", "405 Method Not Allowed"},
		{"GET", "/tasks/5403908ef28ea3a25c138adc", 405, "PUT DELETE", "405 Method Not Allowed"},
		{"GET", "/tasks/5403908ef28ea3a25c138adc/retry", 405, "POST", "405 Method Not Allowed"},
		{"POST", "/tasks/5403908ef28ea3a25c138adc/other", 404, "", ""},
		{"POST", "/devices/", 405, "GET, HEAD", "405 Method Not Allowed"},
		{"GET", "/", 404, "", "404 Not Found"},
		{"GET", "/unknown/", 404, "", "404 Not Found"},
		{"POST", "/devices/a-b/tags/sub:john", 404, "", "404 Not Found"},
		{"POST", "/devices/a-b/tags/john.doe", 404, "", "404 Not Found"},
		{"PUT", "/presets/a.b", 404, "", "404 Not Found"},
		{"POST", "/devices/a-b/tags/x", 404, "", "No such device"},
		{"POST", "/devices/a-b/tasks?connection_request", 404, "", "No such device"},
		{"POST", "/devices/a-b/tasks", 400, "", ""},
		{"DELETE", "/tasks/5403908ef28ea3a25c138adc", 404, "", "Task not found"},
		{"DELETE", "/files/none", 404, "", "404 Not Found"},
		{"DELETE", "/devices/a-b", 200, "", ""},
		{"DELETE", "/faults/a-b:default", 200, "", ""},
		{"DELETE", "/presets/none", 200, "", ""},
		{"GET", "/ping/192.168.1.1", 200, "", "PING 192.168.1.1\n3 packets transmitted, 3 received, 0% packet loss\n"},
		{"GET", "/locks", 200, "", "[\n\n]"},
		{"GET", "/devices/?query=%7B", 400, "", "SyntaxError: Unexpected token in JSON"},
		{"GET", "/devices/?sort=%7B", 400, "", "SyntaxError: Unexpected token in JSON"},
	} {
		got := k.do(c.method, c.path, "")
		if got.status != c.status || got.header.Get("Allow") != c.allow || got.body != c.body ||
			got.header.Get("GenieACS-Version") != "1.2.16" {
			t.Errorf("%s %s: %+v", c.method, c.path, got)
		}
	}
}

func TestNBI_BodiesThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	for path, body := range map[string]string{
		"PUT /presets/x": "{", "PUT /provisions/x": "if (", "PUT /virtual_parameters/x": "}", "PUT /objects/x": "[",
		"POST /devices/" + strings.ReplaceAll(id, "%", "%25") + "/tasks": "{",
	} {
		method, at, _ := strings.Cut(path, " ")
		if got := k.do(method, at, body); got.status != 400 || !strings.HasPrefix(got.body, "SyntaxError: ") {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestNBI_TheProcessBreaksOffAtWhatItCannotWorkOn(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := strings.ReplaceAll(k.add(acs.DeviceConfig{Serial: "S1"}), "%", "%25")
	tasks := "/devices/" + id + "/tasks"
	for _, c := range [][3]string{
		{"DELETE", "/tasks/123", ""}, {"POST", "/tasks/5403908ef28ea3a25c138adc/retry", ""},
		{"POST", tasks, `{"name":"format"}`}, {"POST", tasks, `{"name":"getParameterValues"}`},
		{"POST", tasks, `{"name":"getParameterValues","parameterNames":[""]}`},
		{"POST", tasks, `{"name":"setParameterValues","parameterValues":[["a",null]]}`},
		{"POST", tasks, `{"name":"setParameterValues","parameterValues":[]}`},
		{"POST", tasks, `{"name":"deleteObject","objectName":""}`}, {"POST", tasks, `{"name":"download"}`},
		{"GET", "/tasks/?query=%7B%22_id%22%3A%22x%22%7D", ""},
		{"GET", "/tasks/?query=%7B%22_id%22%3A%7B%22%24regex%22%3A%22x%22%7D%7D", ""},
		{"GET", "/devices/?query=%7B%22_id%22%3A%7B%22%24foo%22%3A1%7D%7D", ""},
		{"GET", "/devices/?query=%7B%22_id%22%3A%7B%22%24in%22%3A%5B%22a*%22%5D%7D%7D", ""},
		{"DELETE", "/faults/a-b:task_1", ""},
	} {
		if got := k.do(c[0], c[1], c[2]); got.status != 0 {
			t.Errorf("%v: %+v", c, got)
		}
	}
	if got := k.do("GET", "/tasks/", ""); got.body != "[\n\n]" {
		t.Errorf("a bad task was taken: %s", got.body)
	}
}

func TestNBI_QueriesForDevicesAreWidened(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	one := k.add(acs.DeviceConfig{Serial: "123", Firmware: "2.0"})
	two := k.add(acs.DeviceConfig{Serial: "S-2", Root: "InternetGatewayDevice", Firmware: "7"})
	k.do("POST", "/devices/"+strings.ReplaceAll(two, "%", "%25")+"/tags/org%3Aacme", "")
	both := []string{one, two}
	slices.Sort(both)
	for query, want := range map[string][]string{
		`{}`:           both,
		`{"_id":"*2"}`: {two}, `{"_id":"` + two + `"}`: {two}, `{"_deviceId._SerialNumber":"S*"}`: {two},
		`{"_tags":"org:acme"}`: {two}, `{"_tags":{"$in":["org:acme"]}}`: {two}, `{"_tags":{"$ne":"org:acme"}}`: {one},
		`{"Device.DeviceInfo.SoftwareVersion":"2.0"}`: {one}, `{"Device.DeviceInfo.SoftwareVersion":"/^2/"}`: {one},
		`{"_lastInform":{"$lt":"2026-03-03T00:00:00.000Z"}}`:    both,
		`{"_lastInform":{"$gt":"2026-03-03T00:00:00Z"}}`:        {},
		`{"$or":[{"_id":"` + one + `"},{"_tags":"org:acme"}]}`:  both,
		`{"$and":[{"_id":"` + one + `"},{"_tags":"org:acme"}]}`: {},
		`{"_tags":{"$exists":true}}`:                            {two}, `{"_id":{"$gt":"` + both[0] + `"}}`: {both[1]},
	} {
		if got := k.find("devices", query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestNBI_ListsHaveTotalsPagesAndProjections(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	for i := range 5 {
		k.add(acs.DeviceConfig{Serial: fmt.Sprintf("P%d", i)})
	}
	got := k.do("GET", "/devices/?skip=3&limit=4&sort=%7B%22_id%22%3A-1%7D&projection=_lastInform", "")
	want := "[\n" + `{"_id":"00D09E-HomeBox%2D2-P1","_lastInform":"2026-03-02T09:00:00.000Z"}` + ",\n" +
		`{"_id":"00D09E-HomeBox%2D2-P0","_lastInform":"2026-03-02T09:00:00.000Z"}` + "\n]"
	if got.body != want || got.header.Get("Total") != "5" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", got)
	}
	if got = k.do("HEAD", "/devices/?query=%7B%7D", ""); got.body != "" || got.header.Get("Total") != "5" {
		t.Errorf("%+v", got)
	}
	got = k.do("GET", "/devices/?limit=1&projection=Device.DeviceInfo.HardwareVersion,Device.DeviceInfo", "")
	var list []struct {
		Device struct {
			DeviceInfo map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list) != 1 {
		t.Fatal(got.body, err)
	}
	if v := string(list[0].Device.DeviceInfo["HardwareVersion"]); v != `{"_object":false,"_timestamp":`+
		`"2026-03-02T09:00:00.000Z","_type":"xsd:string","_value":"A1","_writable":false}` {
		t.Error(v)
	}
	if string(list[0].Device.DeviceInfo["_object"]) != "true" {
		t.Error(got.body)
	}
}

func TestNBI_TheReasonPhraseSaysMore(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{SessionWait: time.Millisecond})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	path := "/devices/" + strings.ReplaceAll(id, "%", "%25") + "/tasks"
	body := `{"name":"reboot"}`
	if got := k.do("POST", path, body); got.status != 202 || got.reason != "Accepted" ||
		!strings.Contains(got.body, `"device":"`+id+`"`) {
		t.Errorf("queued: %+v", got)
	}
	if got := k.do("POST", path+"?connection_request", body); got.status != 200 {
		t.Errorf("done: %+v", got)
	}
	k.settle()
	for want, set := range map[string]func() error{
		"Device is offline": func() error { return k.SetNAT(id, true) },
		"Task faulted": func() error {
			return k.SetDeviceFaults(id, acs.DeviceFaults{Fail: map[string]string{"Reboot": "9002"}})
		},
		"Task queued but not processed": func() error {
			return k.SetDeviceFaults(id, acs.DeviceFaults{NoSession: true})
		},
	} {
		if err := set(); err != nil {
			t.Fatal(err)
		}
		got := k.do("POST", path+"?connection_request&timeout=5", body)
		if got.status != 202 || got.reason != want || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %+v", want, got)
		}
		if err := k.SetNAT(id, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{Held: true}); err != nil {
		t.Fatal(err)
	}
	if got := k.do("POST", path+"?connection_request", body); got.reason != "Task queued but not processed" {
		t.Errorf("held: %+v", got)
	}
	if got := k.do("DELETE", strings.TrimSuffix(path, "/tasks"), ""); got.status != http.StatusServiceUnavailable ||
		got.body != "Device is in session" {
		t.Errorf("locked: %+v", got)
	}
}

func TestFiles_RangesAndTagsWork(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	if got := k.do("PUT", "/files/a%20b.bin", "0123456789", "fileType", "1 Firmware Upgrade Image"); got.status != 201 {
		t.Fatalf("%+v", got)
	}
	get := func(headers ...string) reply { return k.at(k.FilesURL(), "GET", "/a%20b.bin", "", headers...) }
	whole := get()
	tag := whole.header.Get("ETag")
	if whole.status != 200 || whole.body != "0123456789" || tag == "" || whole.header.Get("Last-Modified") == "" {
		t.Errorf("%+v", whole)
	}
	for _, c := range []struct {
		header, value string
		status        int
		body, part    string
	}{
		{"Range", "bytes=2-4", 206, "234", "bytes 2-4/10"}, {"Range", "bytes=7-", 206, "789", "bytes 7-9/10"},
		{"Range", "bytes=20-", 416, "", "bytes */10"}, {"Range", "lines=1-2", 416, "", "bytes */10"},
		{"If-None-Match", tag, 304, "", ""}, {"If-None-Match", "x", 200, "0123456789", ""},
		{"If-Match", "x", 412, "", ""}, {"If-Match", tag, 200, "0123456789", ""},
		{"If-Modified-Since", whole.header.Get("Last-Modified"), 304, "", ""},
	} {
		got := get(c.header, c.value)
		if got.status != c.status || got.body != c.body || got.header.Get("Content-Range") != c.part {
			t.Errorf("%s %s: %+v", c.header, c.value, got)
		}
	}
	if got := k.at(k.FilesURL(), "GET", "/none", ""); got.status != 404 || got.body != "" {
		t.Errorf("%+v", got)
	}
	if got := k.at(k.FilesURL(), "POST", "/a", ""); got.status != 405 || got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("%+v", got)
	}
	list := k.do("GET", "/files/", "")
	if !strings.Contains(list.body, `"_id":"a b.bin"`) || !strings.Contains(list.body, `"oui":null`) {
		t.Error(list.body)
	}
}
