package redact
import ("testing";"time";"strings";"fmt";"math/rand/v2";"encoding/json")
func TestZZ(t *testing.T){
 try:=func(name,s string){
  s=strings.Repeat(s,1<<20/len(s)+1)
  t0:=time.Now(); Text(s); d:=time.Since(t0)
  b,_:=json.Marshal(s); t0=time.Now(); Payload(nil,b,1<<20); d2:=time.Since(t0)
  if d>60*time.Millisecond||d2>150*time.Millisecond {fmt.Printf("%8v %8v %q\n",d.Round(time.Millisecond),d2.Round(time.Millisecond),name)}
 }
 for _,p:=range pieces {try(p,p)}
 for _,p:=range fuzzTexts {if p!="" {try(p,p)}}
 r:=rand.New(rand.NewPCG(9,9))
 for range 1500 { j:=jumble(r); try(j,j)}
 for _,p:=range []string{"[","{\"a\":","[\"","\\\"","-eyJ","-u ","password=\"","password=","\u009d","\x1b]","<private","sk-","://a:","api_key='\\","-----END PRIVATE KEY-----","🇩🇪","-----BEGIN PRIVATE KEY-----\\n"} {try(p,p)}
}
