package report_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/opcast/opcast/internal/results/report"
)

// browser starts a headless Chromium, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("the page is tested in Chromium, which is not installed here")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1400, 1000))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to run as root with its sandbox
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// complaints are what a page should not do: errors, messages, requests.
type complaints struct {
	mu   sync.Mutex
	list []string
	// events counts requests of any kind.
	events int
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

// listen collects what the page of a context does from now on.
func (c *complaints) listen(ctx context.Context, page string) error {
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		return err
	}
	return chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			c.add("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
		case *runtime.EventConsoleAPICalled:
			c.add("console: %s", e.Type)
		case *log.EventEntryAdded:
			c.add("log: %s", e.Entry.Text)
		case *network.EventRequestWillBeSent:
			c.events++
			if url, _, _ := strings.Cut(e.Request.URL, "#"); url != page && !strings.HasPrefix(url, "data:") {
				c.add("request: %s", e.Request.URL)
			}
		}
	})
}

// The steps are those of a reader, one after another on one page.
func TestPageInBrowser(t *testing.T) {
	page := "file://" + writeBig(t)
	ctx := browser(t)
	var bad complaints
	if err := bad.listen(ctx, page); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Do(ctx, media("light"), chromedp.Navigate(page), chromedp.WaitVisible(chromedp.CSS("#list tbody tr.one")))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			if err := chromedp.Do(ctx, step.do...); err != nil {
				t.Fatal(err)
			}
			got, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+step.ask+")"))
			if err != nil {
				t.Fatal(err)
			}
			if got != step.want {
				t.Errorf("%s: got %s, want %s", step.ask, got, step.want)
			}
		})
	}
	t.Run("pictures", func(t *testing.T) { pictures(ctx, t) })
	bad.mu.Lock()
	defer bad.mu.Unlock()
	if len(bad.list) > 0 || bad.events == 0 {
		t.Errorf("the page was asked for %d times, and did what it should not:\n%s", bad.events, strings.Join(bad.list, "\n"))
	}
}

// A page that fetches something is noticed: otherwise the test above would say nothing.
func TestComplaints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	text := `<link rel="icon" href="data:,"><img src="https://example.invalid/x.png"><script>console.log("so"); nothing.at.all</script>`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := browser(t)
	var bad complaints
	if err := bad.listen(ctx, "file://"+path); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	bad.mu.Lock()
	defer bad.mu.Unlock()
	all := strings.Join(bad.list, "\n")
	for _, want := range []string{"exception: ", "console: log", "request: https://example.invalid/x.png"} {
		if !strings.Contains(all, want) {
			t.Errorf("got %s, want %s", all, want)
		}
	}
}

// step does something and asks the page something.
type step struct {
	name      string
	do        tasks
	ask, want string
}

type tasks = []chromedp.Action[chromedp.Void]

// choose takes a choice of a filter as a reader does.
func choose(id, value string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`byId(%q).value = %q; byId(%q).dispatchEvent(new Event("change"))`, id, value, id))
}

const (
	shownStatuses = `[...new Set([...document.querySelectorAll("#list .one .tag")].map((tag) => tag.textContent))]`
	backgroundNow = `getComputedStyle(document.body).backgroundColor`
)

var steps = []step{
	{"failures come first, and the first is open", nil,
		`list.found[0].status + " " + document.querySelectorAll("#list .one.is-open").length`, "fail 1"},
	{"its details have the reason and the reproducer", nil,
		`["got 0.5, want 0.25", "onerror", "python cases/op_00.py", "--seed 17", "what must hold of"].every((text) =>
			document.querySelector(".detail").textContent.includes(text))`,
		"true"},
	{"hostile text is only text", nil, `window.broken + " " + document.images.length`, "undefined 0"},
	{"the reproducer can be copied", tasks{chromedp.Click(chromedp.CSS(".code.script button")), chromedp.Sleep(100 * time.Millisecond)},
		`document.querySelector(".code.script button").textContent`, "Copied"},
	{"a page at a time", tasks{chromedp.Click(chromedp.CSS("#more"))}, `document.querySelectorAll("#list .one").length`, "180"},
	{"filter by op", tasks{choose("op", "op_03")}, `list.found.every((one) => one.op === "op_03") && list.found.length`, "1170"},
	{"and by caller", tasks{choose("adaptor", "torch")}, `list.found.length`, "156"},
	{"and by group", tasks{choose("group", "Aliasing")}, `list.found.length`, "20"},
	{"the address has the view", nil, `location.hash`, "#op=op_03&adaptor=torch&group=Aliasing"},
	{"the matrix shows what is meant", nil,
		`[...document.querySelectorAll(".matrix tbody .mk:not(.off)")].map((mark) =>
			mark.parentElement.dataset.op + mark.parentElement.dataset.adaptor + mark.dataset.group)`,
		"op_03torchAliasing"},
	{"plots follow", nil, `[...document.querySelectorAll(".plot")].length`, "2"},
	{"everything again", tasks{chromedp.Click(chromedp.CSS("#reset"))}, `list.found.length === results.length && location.hash`, ""},
	{"filter by status", tasks{choose("status", "bad")}, shownStatuses, "fail"},
	{"ops without a failure are out of the way", nil,
		`[...document.querySelectorAll(".matrix tbody tr")].filter((row) => row.hidden).length ===
			19 - new Set(list.found.map((one) => one.op)).size`, "true"},
	{"new failures", tasks{choose("status", "broken")},
		`list.found.length > 0 && list.found.every((one) => one.op === "op_00" || one.op === "op_18")`, "true"},
	{"search", tasks{chromedp.Click(chromedp.CSS("#reset")), chromedp.SendKeys(chromedp.CSS("#text"), "NEGATIVE stride op_07")},
		`list.found.length > 0 && list.found.every((one) => one.op === "op_07" && one.status === "unsupported")`, "true"},
	{"sort", tasks{chromedp.Click(chromedp.CSS("#reset")), chromedp.Click(chromedp.CSS(`th[data-sort="7"]`))},
		`list.found[0].ms === Math.max(...results.map((one) => one.ms))`, "true"},
	{"a mark of the matrix", tasks{
		chromedp.Click(chromedp.CSS(`.cell[data-op="op_02"][data-adaptor="jax"] .mk[data-group="Strides"]`)),
		chromedp.WaitVisible(chromedp.CSS("#list .one"))},
		`location.hash + " " + list.found.length`, "#op=op_02&adaptor=jax&group=Strides 24"},
	{"details open", tasks{
		chromedp.Click(chromedp.CSS("#reset")), choose("status", "unsupported"), chromedp.Click(chromedp.CSS("#list .one td:nth-child(2)"))},
		`document.querySelector(".detail").textContent.includes("The same through other callers")`, "true"},
	{"and close", tasks{chromedp.Click(chromedp.CSS("#list .one td:nth-child(2)"))}, `document.querySelectorAll(".detail").length`, "0"},
	{"a comparison is repeated with its kernels", nil,
		`(() => {
			const of = (op, adaptor) => ({ op, adaptor, check: "against", seed: "" });
			results.push(of("mine", "numpy"), of("mine", "numpy it's.py:f"), of("mine", "numpy m:g"), of("other", "numpy m:h"));
			const got = command(of("mine", "numpy"));
			results.length -= 4;
			return got;
		})()`, `opcast compare mine 'numpy:it'\''s.py:f' numpy:m:g`},
	{"nothing matches", tasks{chromedp.SendKeys(chromedp.CSS("#text"), "no such thing")}, `list.found.length`, "0"},
	{"plots are ordered by what they use of the tolerance", tasks{chromedp.Click(chromedp.CSS("#reset"))},
		`measured.every((one, i) => i === 0 || one.share <= measured[i - 1].share) && measured[0].adaptors.length > 0`, "true"},
	{"light", tasks{media("light")}, backgroundNow, "rgb(247, 247, 245)"},
	{"dark", tasks{media("dark")}, backgroundNow, "rgb(20, 22, 26)"},
	{"the reader's choice wins", tasks{media("light"), chromedp.Click(chromedp.CSS("#theme"))},
		backgroundNow + ` + byId("theme").textContent`, "rgb(20, 22, 26)Theme: dark"},
	{"a phone", tasks{chromedp.EmulateViewport(400, 800)}, `document.documentElement.scrollWidth`, "400"},
}

// media is what the reader's system asks of pages.
func media(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		features := []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			// Otherwise a click may meet a row while the page still scrolls.
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// pictures keeps what the page looks like, for people: go test -artifacts -outputdir DIR.
func pictures(ctx context.Context, t *testing.T) {
	for _, one := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1400}, {"dark", "dark", 1400}, {"narrow", "light", 400}} {
		reset := chromedp.Evaluate[chromedp.Void](`document.documentElement.style.colorScheme = ""`)
		err := chromedp.Do(ctx, reset, media(one.scheme), chromedp.EmulateViewport(one.width, 1000))
		if err != nil {
			t.Fatal(err)
		}
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err == nil {
			err = os.WriteFile(filepath.Join(t.ArtifactDir(), one.name+".png"), picture, 0o600)
		}
		if err != nil || len(picture) < 10_000 {
			t.Errorf("%s: %d bytes, %v", one.name, len(picture), err)
		}
	}
}

// Without JavaScript the matrix, the tables and the failures are there.
func TestPageWithoutJavaScript(t *testing.T) {
	page := "file://" + writeBig(t)
	ctx := browser(t)
	off := emulation.SetScriptExecutionDisabledParams{Value: true}
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, off); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(page), chromedp.WaitVisible(chromedp.CSS("#environment"))); err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]int{
		".matrix .cell": 19 * 8, "#results noscript details": len(shownFailures(big(19))), "#mutants tbody tr": 6, "#bar:not([hidden])": 0,
	} {
		nodes, err := chromedp.Run(ctx, chromedp.Nodes(chromedp.CSSAll(selector), chromedp.AtLeast(0)))
		if err != nil || len(nodes) != want {
			t.Errorf("%s: got %d, %v, want %d", selector, len(nodes), err, want)
		}
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(t.ArtifactDir(), "plain.png"), picture, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

func shownFailures(r *report.Report) []report.Result {
	var out []report.Result
	for _, x := range r.Results {
		if x.Status.Bad() {
			out = append(out, x)
		}
	}
	return out
}
