// Loops of many kinds over objects, containers and closures. Labels as in arrays.c.
#include <vector>
#include <string>
#include <map>
#include <unordered_map>
#include <algorithm>
#include <numeric>
#include <memory>
#include <iostream>
#include <array>
#include <cmath>
#include <set>
#include <deque>
#include <optional>
struct Shape { virtual ~Shape() {} virtual double area() const = 0; };
struct Sq : Shape { double s; Sq(double v):s(v){} double area() const override { return s*s; } };
struct Ci : Shape { double r; Ci(double v):r(v){} double area() const override { return 3.14*r*r; } };
struct Cache { std::map<int,long> memo; long f(int n){ if(n<2) return n; auto it=memo.find(n); if(it!=memo.end()) return it->second; long r=f(n-1)+f(n-2); memo[n]=r; return r; } };
template<class T> struct Mat { int n; std::vector<T> d; Mat(int n):n(n),d(n*n){} T& operator()(int i,int j){ return d[i*n+j]; } };
int main(){
  const int N=60;
  std::vector<double> a(N), b(N), c(N);
  for (int i=0;i<N;i++) { a[i]=i; b[i]=N-i; } // @parallel
  for (int i=0;i<N;i++) c[i]=std::hypot(a[i],b[i]); // @parallel
  for (auto& v : c) v=std::sqrt(v); // @parallel
  std::vector<std::unique_ptr<Shape>> sh;
  for (int i=0;i<N;i++) { if(i%2) sh.push_back(std::make_unique<Sq>(i)); else sh.push_back(std::make_unique<Ci>(i)); } // @serial
  double tot=0;
  for (auto& s : sh) tot+=s->area(); // @clauses
  std::vector<double> ar(N);
  for (int i=0;i<N;i++) ar[i]=sh[i]->area(); // @parallel
  Cache ca; std::vector<long> fb(N);
  for (int i=0;i<N;i++) fb[i]=ca.f(i%30); // @serial
  Mat<double> A(24),B(24),C(24);
  for (int i=0;i<24;i++) // @parallel
    for (int j=0;j<24;j++) { A(i,j)=i+j; B(i,j)=i-j; } // @parallel
  for (int i=0;i<24;i++) // @parallel
    for (int j=0;j<24;j++) { // @parallel
      double s=0; for (int k=0;k<24;k++) s+=A(i,k)*B(k,j); // @clauses
      C(i,j)=s; }
  std::vector<std::vector<int>> rows(N);
  for (int i=0;i<N;i++) rows[i].resize(10);
  for (int i=0;i<N;i++) for (int k=0;k<10;k++) rows[i][k]=(k*7+i)%11; // @parallel
  for (auto& r : rows) std::sort(r.begin(),r.end()); // @parallel
  for (int i=0;i<N;i++) { std::vector<int> t(rows[i]); std::reverse(t.begin(),t.end()); rows[i]=t; }
  std::map<int,int> hist;
  for (int i=0;i<N;i++) hist[i%7]++; // @serial
  std::string out;
  for (int i=0;i<N;i++) out+=char('a'+i%26); // @serial
  std::array<int,8> best{}; 
  for (int i=0;i<N;i++) best[(i*i)%8]=i; // @serial
  auto inc=[&](int i){ a[i]+=b[i]; };
  for (int i=0;i<N;i++) inc(i); // @parallel
  int lo=1000000; for (int i=0;i<N;i++) lo=std::min(lo,(int)fb[i]+i); // @clauses
  for (int i=0;i<N;i++) { int t=(int)a[i]+i; lo=std::min(lo,t); } // @clauses
  double hi=0; for (int i=0;i<N;i++) hi=std::max<double>(hi,rows[i][2]); // @clauses
  long x=0; for (int i=0;i<N;i++) x^=fb[i]<<(i%8); // @clauses
  for (int i=1;i<N;i++) b[i]=std::max(b[i],b[i-1]); // @serial
  std::deque<int> q{0}; std::vector<int> dist(N,-1); dist[0]=0;
  while(!q.empty()) { int v=q.front(); q.pop_front(); for (int w : {2*v+1,2*v+2}) if (w<N && dist[w]<0) { dist[w]=dist[v]+1; q.push_back(w); } } // @serial
  for (int i=0;i<3;i++) std::cout<<i<<'\n'; // @serial
  std::cout<<tot<<x<<lo<<hi<<out.size()<<hist.size()<<best[4]<<dist[9]<<C(3,3)<<ar[4]<<a[2]<<rows[2][1]<<b[3]<<"\n";
}
