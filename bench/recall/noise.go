package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// What the noise is made of: the subjects and words of the set, in sentences that answer none of its questions.
var noiseWords = map[string][]string{
	"part": strings.Split("checkout page,price list,coupon form,invoice mailer,login screen,product search,session store,order queue,webhook handler,"+
		"download service,settings screen,sync worker,offline store,push notifications,database module,certificate job,cluster autoscaler,cost report,"+
		"pipeline runner,revenue report,customer import,parquet reader,supplier table,warehouse loader,list parser,inline parser,table writer,link checker,"+
		"docs search,quick start,translation memory,heating bot,meter reader,MQTT bridge,boiler schedule,stock counter,migration tool,release script,image builder", ","),
	"fault": strings.Split("times out after 30 seconds,returns an empty list,shows the wrong currency,logs every request twice,ignores the flag,fails on Windows,"+
		"needs a restart after each change,uses the old endpoint,blocks the main thread,loses the last line,rounds down,prints a deprecation warning,"+
		"is slow with many rows,retries for ever,drops the time zone,sorts by name instead of date,cannot read its own output,runs as root", ","),
	"fix": strings.Split("move the call behind the feature flag,raise the limit to 200,close the file in a defer,pass the context through,cache the compiled template,"+
		"read the setting once at start,return the error to the caller,use a prepared statement,pin the dependency,split the file into two packages,"+
		"wait for the health check,write the result to a temporary file first,compare in lower case,check the length before indexing,drop the unused column", ","),
	"file": strings.Split("internal/report/table.go,internal/cart/cart.go,src/screens/Profile.tsx,src/api/client.ts,vpc/peering.tf,dags/report.py,pipeline/load.py,"+
		"src/block.rs,src/emit.rs,astro.config.mjs,homebot/weather.py,internal/mail/send.go,internal/http/router.go,k8s/ingress.yaml,Makefile,docker-compose.yml", ","),
	"name": strings.Split("renderTable,parseHeader,loadConfig,retryAfter,orderTotal,flushQueue,openChannel,mergeRows,splitLine,nextBatch,applyDiscount,"+
		"sendReceipt,watchFile,readFrame,buildTree,resolvePath", ","),
	"cmd": strings.Split("go test ./...,yarn test,cargo test,pytest -q,terraform plan,kubectl get pods,make lint,git status,git log --oneline -5,npm view react version,"+
		"docker build .,psql -c '\\d orders',ls -la,rg -n TODO,curl -sI localhost:8080", ","),
	"out": strings.Split("ok,no changes,3 files changed,all checks passed,nothing to commit,12 passed,1 warning,done in 4.2s,HTTP/1.1 200 OK,PASS,0 errors", ","),
}

var noisePrompts = strings.Split(`The {part} {fault}, can you have a look?
Please add a test for {name} in {file}
Why is {name} called twice when the {part} starts?
Rename {name} and update the callers
We should document how the {part} works
The {part} {fault} since last week
Can the {part} and the {part} share one connection?
Review {file} for mistakes
What does {name} return when the list is empty?
Is there a limit for the {part}?`, "\n")

var noiseAnswers = strings.Split(`The {part} {fault} because {name} runs too early. I would {fix}.
Done: {name} is covered now, {file} has two more tests.
It is enough to {fix}; the {part} stays as it is.
I looked at {file}: {name} is fine, but one should {fix}.
Nothing there limits the {part}. To be safe, {fix}.
Renamed in {file} and three callers. All tests pass.`, "\n")

// makeNoise makes sessions in the projects and the months of the others.
func makeNoise(others []memory.Entry, sessions int) []memory.Entry {
	r := rand.New(rand.NewPCG(20260101, 7))
	fill := func(template string) string {
		for {
			from, to := strings.Index(template, "{"), strings.Index(template, "}")
			if from < 0 || to < from {
				return template
			}
			list := noiseWords[template[from+1:to]]
			template = template[:from] + list[r.IntN(len(list))] + template[to+1:]
		}
	}
	var out []memory.Entry
	for s := range sessions {
		like := others[r.IntN(len(others))]
		at := time.Date(2026, 1, 1+r.IntN(89), 8+r.IntN(12), r.IntN(60), 0, 0, time.UTC)
		add := func(turn int, kind memory.Kind, text string) *memory.Entry {
			at = at.Add(30 * time.Second)
			id := fmt.Sprintf("noise-%d", s)
			out = append(out, memory.Entry{
				ID: fmt.Sprintf("%s/%d", id, len(out)), SessionID: id, Project: like.Project, Branch: "main", Time: at, Kind: kind, Turn: turn, Text: text,
			})
			return &out[len(out)-1]
		}
		for turn := 1; turn <= 1+r.IntN(3); turn++ {
			add(turn, memory.KindPrompt, fill(noisePrompts[r.IntN(len(noisePrompts))]))
			for range r.IntN(3) {
				command := fill("{cmd}")
				e := add(turn, memory.KindToolCall, "")
				e.Tool, e.ToolInput = "bash", quoted("command", command)
				e = add(turn, memory.KindToolResult, fill("{out}"))
				e.Tool, e.ToolInput = "bash", quoted("command", command)
			}
			add(turn, memory.KindResponse, fill(noiseAnswers[r.IntN(len(noiseAnswers))]))
		}
	}
	return out
}
