package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// upload is a file that is sent to a host; length is its own word for its size, -1 = none.
type upload struct {
	host, path, body string
	length           int64
}

// send gives the status, the code and Retry-After; 0 for an error of the connection.
func (u upload) send(t *testing.T, k *apitest.Kit) (status int, code, retry string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", k.URL()+u.path, strings.NewReader(u.body))
	if err != nil {
		t.Error(err)
		return 0, "", ""
	}
	req.Host, req.ContentLength = u.host, u.length
	req.Header.Set("Content-Type", "text/csv")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, "", ""
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, apitest.Answer{Body: text}.Code(), res.Header.Get("Retry-After")
}

// TestUploads_OneOfAnOrganizationAndABoundForAll, and small bodies never wait for them.
func TestUploads_OneOfAnOrganizationAndABoundForAll(t *testing.T) {
	t.Parallel()
	held, free := make(chan int, 1), make(chan struct{}, 2)
	take := httpapi.Route{
		Method: "POST", Path: "/files", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, Summary: "Take",
		Accepts: "text/csv", BodyLimit: 3 << 20, Response: map[string]string{},
		Handle: func(ctx context.Context, c *httpapi.Call) error {
			if len(c.Body()) > 1<<20 {
				held <- len(c.Body())
				<-free
			}
			return apitest.Ok(ctx, c)
		},
	}
	huge := take
	huge.Path, huge.BodyLimit = "/huge", 1<<30
	k := apitest.New(t, nil, []httpapi.Route{take, huge})
	large := strings.Repeat("a", 2<<20)
	ended := make(chan int)
	for _, host := range []string{apitest.Acme, apitest.Other} {
		go func() {
			status, _, _ := upload{host, "/files", large, 2 << 20}.send(t, k)
			ended <- status
		}()
		if n := <-held; n != len(large) {
			t.Errorf("%s: %d bytes", host, n)
		}
	}
	for _, c := range []struct {
		upload
		status int
		code   string
	}{
		{upload{apitest.Acme, "/files", large, 2 << 20}, 429, "upload_running"},
		{upload{apitest.Acme, "/files", large, -1}, 429, "upload_running"},
		{upload{apitest.Acme, "/files", large[:1<<20], 1 << 20}, 200, ""},
		{upload{apitest.Acme, "/files", large + large, 4 << 20}, 413, "body_too_large"},
		{upload{apitest.Domain, "/huge", large, -1}, 429, "uploads_full"},
	} {
		status, code, retry := c.send(t, k)
		if status != c.status || code != c.code || (status == 429) != (retry == "5") {
			t.Errorf("%s%s: %d %s after %q, want %d %s", c.host, c.path, status, code, retry, c.status, c.code)
		}
	}
	for range 2 {
		free <- struct{}{}
	}
	if a, b := <-ended, <-ended; a != 200 || b != 200 {
		t.Errorf("they ended with %d and %d", a, b)
	}
	free <- struct{}{}
	if status, code, _ := (upload{apitest.Acme, "/files", large, 2 << 20}).send(t, k); status != 200 {
		t.Errorf("afterwards: %d %s", status, code)
	}
}
