package acs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// talker is a server of devices that says its lines one after the other in each session, and keeps what it heard.
type talker struct {
	mu    sync.Mutex
	lines []string
	heard []string
}

// ServeHTTP answers informs and completed transfers, and says the next line otherwise.
func (s *talker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, string(body))
	say := ""
	switch {
	case r.Method == http.MethodGet: // a file
		_, _ = io.WriteString(w, "firmware")
		return
	case strings.Contains(string(body), "<cwmp:Inform>"):
		http.SetCookie(w, &http.Cookie{Name: "session", Value: fmt.Sprint(len(s.heard)), Path: "/"})
		say = "<cwmp:InformResponse><MaxEnvelopes>1</MaxEnvelopes></cwmp:InformResponse>"
	case strings.Contains(string(body), "<cwmp:TransferComplete>"):
		say = "<cwmp:TransferCompleteResponse/>"
	case len(s.lines) > 0:
		say, s.lines = s.lines[0], s.lines[1:]
	}
	if say == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	_, _ = fmt.Fprintf(w, `<?xml version="1.0"?><soap-env:Envelope `+
		`xmlns:soap-env="http://schemas.xmlsoap.org/soap/envelope/" xmlns:cwmp="urn:dslforum-org:cwmp-1-0">`+
		`<soap-env:Header><cwmp:ID soap-env:mustUnderstand="1">id &amp; 7</cwmp:ID></soap-env:Header>`+
		`<soap-env:Body>%s</soap-env:Body></soap-env:Envelope>`, say)
}

// said reports what the device said that has all parts, as often as it was.
func (s *talker) said(parts ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, h := range s.heard {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(h, p)
		}
		if all {
			n++
		}
	}
	return n
}

// askNames asks for the names below a path.
func askNames(path string, next int) string {
	return fmt.Sprintf("<cwmp:GetParameterNames><ParameterPath>%s</ParameterPath><NextLevel>%d</NextLevel>"+
		"</cwmp:GetParameterNames>", path, next)
}

// askValue is a line of a server about one parameter or object.
func askValue(path string) string {
	return "<cwmp:GetParameterValues><ParameterNames><string>" + path +
		"</string></ParameterNames></cwmp:GetParameterValues>"
}

// askSet is a line of a server; the value is escaped already.
func askSet(path, value string) string {
	return "<cwmp:SetParameterValues><ParameterList><ParameterValueStruct><Name>" + path + "</Name><Value>" + value +
		"</Value></ParameterValueStruct></ParameterList></cwmp:SetParameterValues>"
}

func TestRemote_SpeaksTheProtocolOfDevices(t *testing.T) {
	t.Parallel()
	server := &talker{}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	r, err := acs.NewRemote(context.Background(), acs.RemoteConfig{
		CWMP: web.URL, Device: acs.DeviceConfig{Serial: "R <1>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	server.lines = []string{
		"<cwmp:GetRPCMethods/>", askNames("Device.WiFi.", 1), askNames("Device.WiFi.SSID.1.", 0),
		askNames("Device.No.", 0),
		askValue(ssid), askValue("Device.No"),
		askSet(ssid, "Ufukwe &amp; co"), askSet("Device.DeviceInfo.UpTime", "1"), askSet(interval, "soon"),
		"<cwmp:AddObject><ObjectName>Device.WiFi.SSID.</ObjectName></cwmp:AddObject>",
		"<cwmp:DeleteObject><ObjectName>Device.WiFi.SSID.3.</ObjectName></cwmp:DeleteObject>", "<cwmp:Fly/>",
		"<cwmp:Reboot><CommandKey/></cwmp:Reboot>",
		"<cwmp:Download><CommandKey>k1</CommandKey><URL>" + web.URL + "/fw.bin</URL></cwmp:Download>",
	}
	if err := r.Session(t.Context(), "0 BOOTSTRAP", "1 BOOT"); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{
		{"<EventCode>0 BOOTSTRAP</EventCode>", "<EventCode>1 BOOT</EventCode>"},
		{"<SerialNumber>R &lt;1&gt;</SerialNumber>"},
		{"<string>GetParameterNames</string>", ">id &amp; 7</cwmp:ID>"},
		{"<Name>Device.WiFi.SSID.</Name><Writable>0</Writable>", "<Name>Device.WiFi.AccessPoint.</Name>"},
		{"<Name>Device.WiFi.SSID.1.SSID</Name><Writable>1</Writable>"}, {"<FaultCode>9005</FaultCode>"},
		{`<Value xsi:type="xsd:string">Acme-`}, {"<cwmp:SetParameterValuesResponse><Status>0</Status>"},
		{"<FaultCode>9003</FaultCode>", "<FaultCode>9008</FaultCode>"}, {"<FaultCode>9007</FaultCode>"},
		{"<InstanceNumber>3</InstanceNumber>"}, {"<cwmp:DeleteObjectResponse>"}, {"<FaultCode>9000</FaultCode>"},
		{"<cwmp:RebootResponse>"}, {"<cwmp:DownloadResponse><Status>1</Status>"},
		{"<EventCode>M Reboot</EventCode>"}, {"<EventCode>7 TRANSFER COMPLETE</EventCode>"},
		{"<cwmp:TransferComplete><CommandKey>k1</CommandKey>", "<FaultCode>0</FaultCode>"},
	} {
		if server.said(want...) == 0 {
			t.Errorf("the device did not say %v", want)
		}
	}
	if got := r.Value(ssid); got != "Ufukwe & co" {
		t.Errorf("the name is %v", got)
	}
	server.mu.Lock()
	server.lines = []string{"<cwmp:FactoryReset/>"}
	server.mu.Unlock()
	if err := r.Session(t.Context(), "2 PERIODIC"); err != nil {
		t.Fatal(err)
	}
	if got := r.Value(ssid); got == "Ufukwe & co" || server.said("<EventCode>0 BOOTSTRAP</EventCode>") != 2 {
		t.Errorf("after a reset the name is %v", got)
	}
}

func TestRemote_TakesConnectionRequests(t *testing.T) {
	t.Parallel()
	server := &talker{}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	r, err := acs.NewRemote(context.Background(), acs.RemoteConfig{
		CWMP: web.URL, Device: acs.DeviceConfig{Serial: "R2", Root: "InternetGatewayDevice"},
	})
	if err != nil {
		t.Fatal(err)
	}
	address, _ := r.Value("InternetGatewayDevice.ManagementServer.ConnectionRequestURL").(string)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	call := func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		w, err := client.Do(req)
		if err == nil {
			_ = w.Body.Close()
		}
		return err
	}
	r.SetOffline(true)
	if err := call(); err == nil {
		t.Error("a device that is away answered")
	}
	r.SetOffline(false)
	if err := call(); err != nil {
		t.Fatal(err)
	}
	if err := r.Session(t.Context(), "2 PERIODIC"); err != nil { // behind the session of the call, or before it
		t.Fatal(err)
	}
	if err := r.Close(); err != nil { // waits for the session
		t.Error(err)
	}
	if err := r.Failed(); err != nil && server.said("<EventCode>6 CONNECTION REQUEST</EventCode>") == 0 {
		t.Error(err)
	}
}
