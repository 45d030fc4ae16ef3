package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// streamRoute answers with one event. It sends true when its context has a limit.
func streamRoute(limited chan<- bool) httpapi.Route {
	return httpapi.Route{
		Method: "GET", Path: "/flow", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport, Stream: true,
		Summary: "Goes on", Response: struct {
			Text string `json:"text"`
		}{},
		Handle: func(ctx context.Context, c *httpapi.Call) error {
			_, has := ctx.Deadline()
			limited <- has
			s, err := c.OpenStream()
			if err == nil {
				err = s.Write([]byte("data: {}\n\n"))
			}
			return err
		},
	}
}

func TestStream_HasNoLimitForTheWholeAndNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	db, limited := newStorage(), make(chan bool, 1)
	db.stop[false]() // no read is served
	k := apitest.New(t, func(c *httpapi.Config) { c.Storage = db }, []httpapi.Route{streamRoute(limited)})
	got := k.Do(t, apitest.Request{Path: "/flow", As: apitest.Support})
	if got.Status != http.StatusOK || string(got.Body) != "data: {}\n\n" ||
		got.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
	}
	if <-limited {
		t.Error("a stream ends as every request does")
	}
	families, err := k.Metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "lastmile_http_request_seconds" && strings.Contains(m.String(), "/flow") {
				t.Error("how long a stream was open is measured as a request's time")
			}
		}
	}
}

func TestStream_IsDescribedByTheDataOfItsEvents(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, []httpapi.Route{streamRoute(make(chan bool, 1))})
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema map[string]any `json:"schema"`
				} `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	k.Do(t, apitest.Request{Path: "/openapi.json"}).Into(t, &doc)
	schema := doc.Paths["/flow"]["get"].Responses["200"].Content["text/event-stream"].Schema
	if props, _ := schema["properties"].(map[string]any); props["text"] == nil {
		t.Errorf("described by %v", schema)
	}
}

func TestStream_ARouteWithoutSignInIsRefused(t *testing.T) {
	t.Parallel()
	r := streamRoute(nil)
	r.Access = httpapi.AccessPublic
	k := apitest.New(t, nil)
	if _, err := httpapi.New(k.Config(), []httpapi.Route{r}); err == nil {
		t.Error("a stream for everybody is served")
	}
}
