package randomop_test
import ("testing";"os";"path/filepath";"github.com/opcast/opcast/internal/opdef";"github.com/opcast/opcast/internal/randomop")
func TestZZ(t *testing.T){
 d:=randomop.New(1,1); dir:=t.TempDir()
 os.WriteFile(filepath.Join(dir,"opcast.toml"),[]byte("name=\"demo\"\nversion=\"0.1.0\"\nlicense=\"MIT\"\n"),0o600)
 counts:=map[string]int{}; refused,all:=0,0
 for range 400 {
  os.RemoveAll(filepath.Join(dir,"opdefs")); os.MkdirAll(filepath.Join(dir,"opdefs"),0o700)
  g:=d.Next()
  for _,op:=range g { os.WriteFile(filepath.Join(dir,"opdefs",op.Name+".toml"),[]byte(op.TOML()),0o600); op.CPP() }
  _,diags,err:=opdef.Load(dir); if err!=nil {t.Fatal(err)}
  all++
  if len(diags)>0 { refused++; counts[string(diags[0].Code)]++; if counts[string(diags[0].Code)]<=2 { t.Log(len(g), diags[0].String()) } }
 }
 t.Log(refused,all,counts)
}
